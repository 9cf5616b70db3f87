import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { FaultProxy } from '../../helpers/faultProxy.ts';
import { startLocalService, temporaryFolder, type LocalService } from '../../helpers/localService.ts';
import { Editor } from '../../workbench/editor.ts';
import { connect } from './connect.ts';
import { useWorkbench } from './useWorkbench.ts';

/** More projects than a hover loads. */
const PROJECTS = 60;

describe('the editor, with a large account and without psql', () => {
  // With VSCODE_CLI, VS Code does not read PATH from the login shell.
  const opened = useWorkbench({ env: { PATH: '/nonexistent', VSCODE_CLI: '1' } });
  const folder = temporaryFolder();
  let service: LocalService;
  let proxy: FaultProxy;
  let editor: Editor;

  before(async () => {
    const file = path.join(folder, 'projects.json');
    const projects = Array.from({ length: PROJECTS }, (_, p) => ({
      id: `project-${p}`,
      name: `project ${p}`,
      branches: [
        { id: `br-${p}`, computes: [{ id: `ep-of-${p}`, type: 'read_write', current_state: 'idle' }] },
      ],
    }));
    await writeFile(file, JSON.stringify({ projects }));
    service = await startLocalService({ postgres: false, args: ['--projects', file] });
    const { workbench, folder: open } = opened();
    await writeFile(path.join(open, 'notes.txt'), 'ask ep-of-7\n');
    proxy = await FaultProxy.start({ upstream: service.baseUrl });
    await connect(workbench, { baseUrl: proxy.baseUrl, key: service.key });
    editor = new Editor(workbench.page);
    await workbench.openFile('notes.txt');
  });
  after(async () => {
    await proxy.stop();
    await service.stop();
    await rm(folder, { recursive: true });
  });

  it('loads no computes while the user types', async () => {
    await editor.retype('PGHOST=');
    await editor.waitForSuggestion('Load computes…');
    await editor.press('Escape');
    await editor.retype('ask ep-of-7');
    assert.equal(proxy.count('GET', /endpoints/), 0);
  });

  it('offers hosts while the user types a number after a hyphen', async () => {
    await editor.retype('postgres://u@ep-19');
    await editor.waitForSuggestion('Load computes…');
    await editor.press('Escape');
    await editor.retype('ask ep-of-7');
  });

  it('shows the hover of a compute whose project is not loaded', async () => {
    assert.match(await editor.hover('ep-of-7'), /State\s+idle/);
  });

  it('inserts the host of a compute whose project is not loaded', async () => {
    const { workbench } = opened();
    const last = (await service.client.listComputes('project-59')).items[0]?.host ?? '';
    await editor.retype('PGHOST=');
    await editor.waitForSuggestion(/127\.0\.0\.1:\d+/);
    await editor.type('59');
    await editor.accept('Load computes…');
    await workbench.quickInput.type('Select a compute', 'project 59');
    await workbench.quickInput.choose('Select a compute', 'project 59');
    await workbench.quickInput.choose('Select a compute', 'ep-of-59');
    await editor.waitForText(`PGHOST=${last.replace(':', '\nPGPORT=')}`);
  });

  it('says that psql is missing and where to get it', async () => {
    const { workbench } = opened();
    await workbench.runCommand('Hosted Postgres: Open psql');
    await workbench.quickInput.closed();
    const { buttons } = await workbench.notifications.waitFor("psql isn't installed");
    assert.deepEqual(buttons.toSorted(), ['Copy Connection String…', 'Get psql', 'Open In…']);
  });
});
