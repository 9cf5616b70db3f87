import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Editor } from '../../workbench/editor.ts';
import { until } from '../../workbench/until.ts';
import { connect, useService } from './connect.ts';
import { useWorkbench } from './useWorkbench.ts';

const [project, compute] = ['quiet-sunset-771503', 'ep-bold-thunder-385207'];

describe('the settings document of a compute', () => {
  const ui = useWorkbench();
  const service = useService({ args: [], postgres: true });
  let editor: Editor;

  before(async () => {
    await until('the compute to run', async () => (await record())?.current_state === 'active');
    await connect(ui(), service(), 'analytics');
    editor = new Editor(ui().page);
    await ui().computes.contextMenu(new RegExp(`^Compute .*, active, .*${compute}$`), 'Edit Compute…');
    await ui().quickInput.choose('Select what to change', 'Postgres Settings…');
    await editor.waitForText(/"work_mem": "16MB"/);
  });

  const record = async () =>
    (await service().client.listComputes(project)).items.find(({ id }) => id === compute);
  const current = async () => (await record())?.settings?.pg_settings;
  const whenApplied = (settings: object) =>
    until(
      async () => `${JSON.stringify(settings)}; there is ${JSON.stringify(await current())}`,
      async () => JSON.stringify(await current()) === JSON.stringify(settings),
    );
  const write = async (text: string) => {
    await editor.focus();
    await editor.press('ControlOrMeta+a');
    await editor.press('Delete');
    await ui().page.keyboard.insertText(text);
  };
  const save = async () => {
    await editor.focus();
    await editor.press('ControlOrMeta+s');
  };
  const apply = () => ui().dialog.press('Apply and Restart');
  const whenSettled = () =>
    until('the change to have ended', async () => ((await record())?.pending_state ?? '') === '');
  /** The change has ended, and the window has noticed. */
  const whenIdle = async () => {
    await whenSettled();
    await ui().statusBar.waitUntilGone(/^\d+ operation/);
  };

  /** Changes the settings as another client does, after the end of the previous change. */
  const updateElsewhere = async (pg_settings: Readonly<Record<string, string>>) => {
    await whenSettled();
    await service().client.updateCompute(project, compute, { settings: { pg_settings } });
  };

  it('is applied once the restart is confirmed, and stays unsaved until then', async () => {
    const before = await current();
    await write('{ "work_mem": "32MB", "jit": false }');
    await save();
    const { message, detail } = await ui().dialog.read();
    assert.match(message, new RegExp('^Apply the Postgres settings to the .* of main'));
    assert.match(detail, /restarts\. Its connections are dropped/);
    await ui().dialog.press('Cancel');
    await ui().notifications.waitFor('Not applied: the restart was canceled');
    await ui().notifications.clear();
    await editor.waitForText(/32MB/);
    assert.deepEqual(await current(), before);
    await save();
    await apply();
    await whenApplied({ work_mem: '32MB', jit: 'off' });
    await whenIdle();
  });

  it('replaces no settings that another client has changed while the question was open', async () => {
    await write('{ "work_mem": "48MB", "jit": false }');
    await save();
    await ui().dialog.read();
    await updateElsewhere({ work_mem: '40MB' });
    await whenSettled();
    await apply();
    await ui().notifications.waitFor('Not applied: the settings were changed while you were asked');
    await ui().notifications.clear();
    assert.deepEqual(await current(), { work_mem: '40MB' });
    await ui().runCommand('File: Revert File');
    await editor.waitForText(/40MB/);
    await updateElsewhere({ work_mem: '32MB', jit: 'off' });
    // The window learns of it by its next poll. A document that is changed before that could not be saved.
    await editor.waitForText(/32MB/);
    await whenIdle();
  });

  it('describes settings and completes their names', async () => {
    assert.match(await editor.hover('work_mem'), /maximum memory to be used for query workspaces/);
    await write('{ "statement_t" }');
    await editor.press('ArrowLeft');
    await editor.press('ArrowLeft');
    await editor.press('ArrowLeft');
    await editor.press('ControlOrMeta+Space');
    await editor.waitForSuggestion('statement_timeout');
    await editor.press('Escape');
  });

  it('stays unsaved if Postgres rejects a value, and shows why at the setting', async () => {
    const before = await current();
    await write('{ "work_mem": "32MB", "random_page_cost": "cheap" }');
    await ui().statusBar.waitFor('Warnings: 1');
    await save();
    await apply();
    const { message } = await ui().notifications.waitFor('Failed to save');
    assert.match(message, /invalid value for parameter "random_page_cost"/);
    assert.equal((await ui().notifications.all()).length, 1);
    await ui().notifications.clear();
    await ui().statusBar.waitFor('Errors: 1');
    await editor.hover('random_page_cost', /invalid value for parameter "random_page_cost"/);
    assert.deepEqual(await current(), before);
    await editor.waitForText(/cheap/);
  });

  it('names its problems when it is saved', async () => {
    await write('{ "shared_buffers": "1GB", "work_mem": [] }');
    await save();
    const { message } = await ui().notifications.waitFor('Not applied');
    assert.match(message, /shared_buffers is fixed at 128 MB .*work_mem: The value must be a string/);
    await ui().notifications.clear();
  });

  it('is not saved by itself, while other files are', async () => {
    const notes = path.join(ui().folder, 'notes.txt');
    await writeFile(notes, '');
    await ui().runCommand('File: Toggle Auto Save');
    await write('{ "work_mem": "9MB" }');
    await ui().openFile('notes.txt');
    await editor.retype('saved');
    await until('the other file', async () => (await readFile(notes, 'utf8')) === 'saved');
    await ui().page.locator('.tab.dirty').filter({ hasText: 'pg_settings' }).waitFor();
    assert.deepEqual(await ui().notifications.all(), []);
    await ui().runCommand('File: Toggle Auto Save');
    await ui().runCommand('View: Close Editor');
    await editor.waitForText(/9MB/);
  });

  it('shows changes by other clients while it has no unsaved changes', async () => {
    await editor.focus();
    await ui().runCommand('File: Revert File');
    await updateElsewhere({ work_mem: '8MB' });
    await ui().viewAction('Computes', 'Refresh');
    await editor.waitForText(/8MB/);
  });

  it('lets VS Code offer to overwrite a newer version on the service', async () => {
    await whenSettled();
    // The window no longer follows the previous change, so it doesn't see the next one before the save.
    await ui().computes.waitFor(new RegExp(`^Compute .*, active, .*${compute}$`));
    await write('{ "work_mem": "64MB" }');
    // The answer shows that the extension knows of the unsaved text.
    await editor.hover('work_mem', /maximum memory/);
    await updateElsewhere({ work_mem: '48MB' });
    await save();
    const { message, buttons } = await ui().notifications.waitFor('Failed to save');
    assert.match(message, /content of the file is newer/);
    assert.ok(buttons.includes('Compare') && buttons.includes('Overwrite'), buttons.join());
    assert.deepEqual(await current(), { work_mem: '48MB' });
    await ui().notifications.press('Failed to save', 'Overwrite');
    await apply();
    await whenApplied({ work_mem: '64MB' });
    await whenIdle();
  });

  it('is shown as deleted when the compute is', async () => {
    await whenSettled();
    await service().client.deleteCompute(project, compute);
    await ui().viewAction('Computes', 'Refresh');
    await ui().page.locator('.tab .monaco-icon-label-container.strikethrough, .tab .strikethrough').waitFor();
  });
});
