import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { primary, shop } from '../../helpers/shopAccount.ts';
import { Editor } from '../../workbench/editor.ts';
import { connect, useService } from './connect.ts';
import { useWorkbench } from './useWorkbench.ts';

describe('hosts in the editor', () => {
  const ui = useWorkbench();
  const service = useService();
  let editor: Editor;
  let host: string;
  let pooled: string;
  /** The host's lines in an environment file. */
  let variables: string;

  before(async () => {
    const { items } = await service().client.listComputes(shop);
    const compute = items.find(({ id }) => id === primary);
    [host, pooled] = [compute?.host ?? '', compute?.pooler_host ?? ''];
    variables = `PGHOST=${host.replace(':', '\nPGPORT=')}`;
    await writeFile(path.join(ui().folder, 'app.env'), '');
    await writeFile(path.join(ui().folder, 'notes.txt'), `${primary} is the shop\n`);
    editor = new Editor(ui().page);
    await ui().openFile('app.env');
  });

  it('are not suggested without a connection', async () => {
    await editor.retype('PGHOST=');
    await editor.press('ControlOrMeta+Space');
    // VS Code itself suggests the words of the document.
    await editor.waitForSuggestion('PGHOST');
    assert.deepEqual(await editor.suggestions(), ['PGHOST']);
    await editor.press('Escape');
  });

  it('are inserted by “Load computes…” while a project is not loaded', async () => {
    await connect(ui(), service());
    await ui().openFile('app.env');
    await editor.retype('PGHOST=');
    await editor.waitForSuggestion('Load computes…');
    assert.equal((await editor.suggestions()).at(-1), 'Load computes…');
    await editor.accept('Load computes…');
    await ui().quickInput.choose('Select a compute', 'primary');
    await ui().quickInput.choose('Select a host', 'Direct');
    await editor.waitForText(variables);
  });

  it('complete a variable with the branch and project first, then state and host', async () => {
    await editor.retype('PGHOST=');
    assert.match(await editor.waitForSuggestion(host), /^main \(shop\) idle · 127/);
    await editor.accept(host);
    await editor.waitForText(variables);
  });

  it('complete a connection string, including pooled hosts', async () => {
    await editor.retype('DATABASE_URL=');
    await editor.accept(host);
    await editor.waitForText(`DATABASE_URL=postgresql://app_owner:PASSWORD@${host}/app`);
    await editor.retype('url = "postgresql://me:secret@"');
    await editor.press('ArrowLeft');
    await editor.press('ControlOrMeta+Space');
    await editor.accept(new RegExp(`pooled.*${pooled}`));
    await editor.waitForText(`"postgresql://me:secret@${pooled}"`);
  });

  it('show a hover with links to commands', async () => {
    await ui().openFile('notes.txt');
    const hover = await editor.hover(primary);
    assert.match(hover, /State\s+(active|idle)/);
    assert.match(hover, /Size\s+0\.25 CU/);
    assert.match(hover, /Branch\s+main \(br-aged-salad-000001\)/);
    const links = ['Copy Host', 'Copy Connection String…', 'Open psql'];
    assert.equal(new Set(await editor.linesInHover(links)).size, 1, 'the links are in one line');
    await editor.clickInHover('Copy Host');
    await ui().quickInput.choose('Select a host', 'Pooled');
    await ui().waitForClipboard(pooled);
  });

  it('are inserted at every cursor by Insert Host', async () => {
    await ui().openFile('app.env');
    await editor.retype('a=\nb=');
    await editor.press('ControlOrMeta+a');
    await editor.press('Shift+Alt+i');
    await ui().run('Insert Host');
    await ui().quickInput.choose('Select a compute', 'primary');
    await ui().quickInput.choose('Select a host', 'Direct');
    await editor.waitForText(`a=${host}\nb=${host}`);
  });

  it('are dropped into the editor by dragging a compute', async () => {
    await ui().openView('Hosted Postgres');
    await ui().computes.expandProject('shop');
    await editor.retype('dragged: ');
    const row = ui().page.getByRole('treeitem', { name: new RegExp(`^Compute primary, .*${primary}$`) });
    const target = ui().page.locator('.editor-instance .view-line').first();
    await row.dragTo(target, { steps: 5 });
    await editor.waitForText(host);
  });
});
