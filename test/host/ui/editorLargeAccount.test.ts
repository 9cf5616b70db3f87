import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { temporaryFolder } from '../../helpers/localService.ts';
import { Editor } from '../../workbench/editor.ts';
import { connect, useService } from './connect.ts';
import { useWorkbench } from './useWorkbench.ts';

/** More projects than a hover loads. */
const PROJECTS = 60;

describe('the editor, with a large account and without psql', () => {
  // With VSCODE_CLI, VS Code does not read PATH from the login shell.
  const ui = useWorkbench({ env: { PATH: '/nonexistent', VSCODE_CLI: '1' } });
  const account = path.join(temporaryFolder(), 'projects.json');
  const projects = Array.from({ length: PROJECTS }, (_, index) => ({
    id: `project-${index}`,
    name: `project ${index}`,
    branches: [{ id: `br-${index}`, computes: [{ id: `ep-of-${index}`, type: 'read_write' }] }],
  }));
  writeFileSync(account, JSON.stringify({ projects }));
  const service = useService({ args: ['--projects', account] });
  let editor: Editor;

  before(async () => {
    await writeFile(path.join(ui().folder, 'notes.txt'), 'ask ep-of-7\n');
    await connect(ui(), service());
    editor = new Editor(ui().page);
    await ui().openFile('notes.txt');
  });

  it('loads no computes while the user types', async () => {
    await editor.retype('PGHOST=');
    await editor.waitForSuggestion('Load computes…');
    await editor.press('Escape');
    await editor.retype('ask ep-of-7');
    assert.equal(service().proxy.count('GET', /endpoints/), 0);
  });

  it('shows the hover of a compute whose project is not loaded', async () => {
    assert.match(await editor.hover('ep-of-7'), /State\s+idle/);
  });

  it('inserts the host of a compute whose project is not loaded', async () => {
    const last = (await service().client.listComputes('project-59')).items[0]?.host ?? '';
    await editor.retype('PGHOST=');
    await editor.waitForSuggestion(/127\.0\.0\.1:\d+/);
    await editor.type('59');
    await editor.accept('Load computes…');
    await ui().quickInput.type('Select a compute', 'project 59');
    await ui().quickInput.choose('Select a compute', 'project 59');
    await ui().quickInput.choose('Select a compute', 'ep-of-59');
    await editor.waitForText(`PGHOST=${last.replace(':', '\nPGPORT=')}`);
  });

  it('says that psql is missing and where to get it', async () => {
    await ui().run('Open psql');
    await ui().quickInput.closed();
    const { buttons } = await ui().notifications.waitFor("psql isn't installed");
    assert.deepEqual(buttons.toSorted(), ['Copy Connection String…', 'Get psql', 'Open In…']);
  });
});
