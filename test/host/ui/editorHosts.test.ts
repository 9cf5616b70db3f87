import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { startLocalService, temporaryFolder, type LocalService } from '../../helpers/localService.ts';
import { primary, reports, shop, shopAccount } from '../../helpers/shopAccount.ts';
import { Editor } from '../../workbench/editor.ts';
import { until } from '../../workbench/until.ts';
import { connect } from './connect.ts';
import { useWorkbench } from './useWorkbench.ts';

describe('hosts in the editor', () => {
  const opened = useWorkbench();
  const folder = temporaryFolder();
  let service: LocalService;
  let editor: Editor;
  let host: string;
  let pooled: string;
  /** The host's lines in an environment file. */
  let variables: string;

  before(async () => {
    service = await startLocalService({ args: shopAccount(folder) });
    const { items } = await service.client.listComputes(shop);
    const compute = items.find(({ id }) => id === primary);
    [host, pooled] = [compute?.host ?? '', compute?.pooler_host ?? ''];
    variables = `PGHOST=${host.replace(':', '\nPGPORT=')}`;
    const { workbench, folder: open } = opened();
    await writeFile(path.join(open, 'app.env'), '');
    await writeFile(path.join(open, 'notes.txt'), `${primary} is the shop\n`);
    editor = new Editor(workbench.page);
    await workbench.openFile('app.env');
  });
  after(async () => {
    await service.stop();
    await rm(folder, { recursive: true });
  });

  it('are not suggested without a connection', async () => {
    await editor.retype('PGHOST=');
    await editor.press('ControlOrMeta+Space');
    // VS Code itself suggests the words of the document.
    await editor.waitForSuggestion('PGHOST');
    assert.deepEqual(await editor.suggestions(), ['PGHOST']);
    await editor.press('Escape');
  });

  it('are inserted by “Load computes…” if their project is not loaded', async () => {
    const { workbench } = opened();
    await connect(workbench, service);
    await workbench.openFile('app.env');
    await editor.retype('PGHOST=');
    await editor.waitForSuggestion('Load computes…');
    assert.deepEqual(await editor.suggestions(), ['Load computes…']);
    await editor.accept('Load computes…');
    await workbench.quickInput.choose('Select a compute', primary);
    await workbench.quickInput.choose('Select a host', 'Direct');
    await editor.waitForText(variables);
  });

  it('complete a variable with compute, state and size', async () => {
    await editor.retype('PGHOST=');
    assert.match(await editor.waitForSuggestion(host), /primary · idle · 0\.25 CU/);
    await editor.accept(host);
    await editor.waitForText(variables);
  });

  it('are found by the name of the compute', async () => {
    await editor.retype('PGHOST=repor');
    await editor.press('ControlOrMeta+Space');
    await editor.waitForSuggestion(/reports · idle/);
    await editor.press('Escape');
  });

  it('complete a connection string, including pooled hosts', async () => {
    await editor.retype('url = "postgresql://me:secret@"');
    await editor.press('ArrowLeft');
    await editor.press('ControlOrMeta+Space');
    await editor.accept(new RegExp(`${pooled}.*pooled`));
    await editor.waitForText(`"postgresql://me:secret@${pooled}"`);
  });

  it('complete an empty variable with a whole connection string', async () => {
    await editor.retype('DATABASE_URL=');
    await editor.accept(host);
    await editor.waitForText(`DATABASE_URL=postgresql://app_owner:password@${host}/app`);
  });

  it('show a hover with links to commands', async () => {
    const { workbench } = opened();
    await workbench.openFile('notes.txt');
    const hover = await editor.hover(primary);
    assert.match(hover, /State\s+(active|idle)/);
    assert.match(hover, /Size\s+0\.25 CU/);
    assert.match(hover, /Branch\s+br-aged-salad-000001/);
    await editor.clickInHover('Copy Host');
    await workbench.quickInput.choose('Select a host', 'Pooled');
    await until('the pooled host in the clipboard', async () => (await workbench.readClipboard()) === pooled);
  });

  it('are copied without asking if there is no pooler', async () => {
    const { workbench } = opened();
    await workbench.openView('Hosted Postgres');
    const computes = workbench.tree('Computes');
    await computes.expandProject('shop');
    await computes.inlineAction(/^Compute reports/, 'Copy Host');
    const { items } = await service.client.listComputes(shop);
    const copied = items.find(({ id }) => id === reports)?.host;
    await until('the host in the clipboard', async () => (await workbench.readClipboard()) === copied);
  });

  it('are inserted at every cursor by Insert Host', async () => {
    const { workbench } = opened();
    await workbench.openFile('app.env');
    await editor.retype('a=\nb=');
    await editor.press('ControlOrMeta+a');
    await editor.press('Shift+Alt+i');
    await workbench.runCommand('Hosted Postgres: Insert Host');
    await workbench.quickInput.choose('Select a compute', primary);
    await workbench.quickInput.choose('Select a host', 'Direct');
    await editor.waitForText(`a=${host}\nb=${host}`);
  });

  it('are dropped into the editor by dragging a compute', async () => {
    const { workbench } = opened();
    await editor.retype('dragged: ');
    const row = workbench.page.getByRole('treeitem', { name: /^Compute primary/ });
    const target = workbench.page.locator('.editor-instance .view-line').first();
    await row.dragTo(target, { steps: 5 });
    await editor.waitForText(host);
  });
});
