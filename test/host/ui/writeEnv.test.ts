/** Links, files that git can't check, open editors, Undo, and copies that VS Code might keep. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { appendFile, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { filesBelow } from '../../helpers/filesBelow.ts';
import { temporaryFolder } from '../../helpers/localService.ts';
import { Editor } from '../../workbench/editor.ts';
import { until } from '../../workbench/until.ts';
import { connect, useService } from './connect.ts';
import { addBrowserStorage, addFiles, placesWith, type Places } from './secretSearch.ts';
import { useWorkbench } from './useWorkbench.ts';

const PASSWORD = 'typed-password-5b20c1';
const WRITTEN = 'Wrote DATABASE_URL of main (shop) to .env';

describe('A connection string without a password from the service', () => {
  const ui = useWorkbench();
  const service = useService();
  const outside = temporaryFolder();
  const file = (name: string) => path.join(ui().folder, name);
  const text = (name: string) => readFile(file(name), 'utf8').catch(() => '');
  const git = (...args: string[]) => promisify(execFile)('git', ['-C', ui().folder, ...args]);

  /** Answers the questions about a connection whose password only the user knows. */
  const answerLogin = async (role: string, database: string, password: string) => {
    await ui().quickInput.choose('Select a compute', 'reports');
    await ui().quickInput.answer('Role', role);
    await ui().quickInput.answer('Database', database);
    await ui().quickInput.choose("doesn't provide the password", password);
  };
  /** Runs the command up to its questions about the file. */
  const write = async () => {
    await ui().run('Write DATABASE_URL to .env');
    await answerLogin('someone', 'app', 'Enter the password…');
    await ui().quickInput.answer('Password of someone', PASSWORD);
  };
  /** Waits for the last step of the command, after it has opened the file, which takes the focus. */
  const isWritten = async (name: string) => {
    await until(`the password in ${name}`, async () => (await text(name)).includes(PASSWORD));
    await ui().notifications.waitFor(/^Wrote DATABASE_URL of main \(shop\) to /);
  };

  before(() => connect(ui(), service()));
  afterEach(async () => {
    await ui().notifications.clear();
    await ui().runCommand('View: Close All Editors');
    for (const name of await readdir(ui().folder)) await rm(file(name), { recursive: true });
  });

  it('creates a file that only the user can read, leaves no copy of it, and removes it on Undo', async () => {
    const { dataFolder } = ui();
    await write();
    await isWritten('.env');
    await new Editor(ui().page).waitForText(PASSWORD);
    const places: Places = new Map();
    await addFiles(places, dataFolder);
    await addBrowserStorage(places, ui().page);
    assert.deepEqual(placesWith(places, PASSWORD), []);
    if (process.platform !== 'win32') assert.equal((await stat(file('.env'))).mode & 0o777, 0o600);
    await ui().statusBar.waitFor('Database branch main');
    await ui().notifications.press(WRITTEN, 'Undo');
    await until('the file to go', async () => !existsSync(file('.env')));
    await ui().statusBar.waitUntilGone('Database branch main');
  });

  it('restores the previous text on Undo, unless the file was changed in the meantime', async () => {
    await writeFile(file('.env'), 'A=1\nDATABASE_URL=old\n');
    await write();
    await isWritten('.env');
    assert.match(await text('.env'), /^A=1\n# DATABASE_URL=old\nDATABASE_URL=postgresql:/);
    await ui().notifications.press(WRITTEN, 'Undo');
    await until('the old text', async () => (await text('.env')) === 'A=1\nDATABASE_URL=old\n');
    await ui().notifications.clear();
    await write();
    await isWritten('.env');
    await ui().notifications.waitFor(WRITTEN);
    await appendFile(file('.env'), 'B=2\n');
    await ui().notifications.press(WRITTEN, 'Undo');
    await ui().notifications.waitFor('.env was changed in the meantime');
    assert.match(await text('.env'), /B=2/);
  });

  it('saves an open editor first, if the user agrees, and shows both changes', async () => {
    const editor = new Editor(ui().page);
    await writeFile(file('.env'), 'A=1\n');
    await ui().openFile('.env');
    await editor.retype('A=2\n');
    await write();
    assert.match((await ui().dialog.read()).message, /\.env has unsaved changes/);
    await ui().dialog.press('Cancel');
    assert.equal(await text('.env'), 'A=1\n');
    await write();
    await ui().dialog.press('Save and Write');
    await isWritten('.env');
    assert.match(await text('.env'), /^A=2\nDATABASE_URL=postgresql:\S+\n$/);
    await editor.waitForText(/^A=2\nDATABASE_URL=postgresql:/);
  });

  it('asks before it writes to a file that git does not ignore', async () => {
    await writeFile(file('.env'), 'A=1\nexport DATABASE_URL="old" # why\nB=2\n');
    await git('init', '--quiet');
    await write();
    const { message, buttons } = await ui().dialog.read();
    assert.match(message, /Git doesn't ignore \.env/);
    assert.deepEqual(buttons.toSorted(), ['Add to .gitignore and Write', 'Cancel', 'Write Anyway']);
    await ui().dialog.press('Add to .gitignore and Write');
    await isWritten('.env');
    const kept = 'A=1\\n# export DATABASE_URL="old" # why\\n';
    const written = new RegExp(`^${kept}export DATABASE_URL="postgresql:\\S+" # why\\nB=2\\n$`);
    assert.match(await text('.env'), written);
    assert.equal(await text('.gitignore'), '.env\n');
    await ui().notifications.clear();
    await writeFile(file('.env'), '');
    await new Editor(ui().page).waitForText(/^$/);
    await write();
    await isWritten('.env');
  });

  it('asks about the target of a link', async () => {
    await git('init', '--quiet');
    await mkdir(file('config'));
    await writeFile(file('config/app.txt'), 'A=1\n');
    await writeFile(file('.gitignore'), '.env\n');
    await git('add', 'config/app.txt');
    await symlink(path.join('config', 'app.txt'), file('.env'));
    await write();
    const { message, detail, buttons } = await ui().dialog.read();
    assert.match(message, /config\/app\.txt is part of the repository/);
    assert.match(detail, /\.env is a link to this file/);
    assert.deepEqual(buttons.toSorted(), ['Cancel', 'Write Anyway']);
    await ui().dialog.press('Write Anyway');
    await isWritten('config/app.txt');
  });

  it('rejects a link out of the workspace, also one that replaces the file during a question', async () => {
    const target = path.join(outside, 'late');
    await writeFile(target, 'A=1\n');
    await git('init', '--quiet');
    await write();
    assert.match((await ui().dialog.read()).message, /Git doesn't ignore \.env/);
    await symlink(target, file('.env'));
    await ui().dialog.press('Write Anyway');
    await ui().notifications.waitFor(/\.env is a link to .*late, which isn't in the workspace/);
    assert.equal(await readFile(target, 'utf8'), 'A=1\n');
  });

  it('writes to the selected folder of a multi-root workspace', async () => {
    const folders = ['first', 'second'].map((name) => path.join(outside, name));
    for (const folder of folders) await mkdir(folder);
    const workspace = path.join(outside, 'both.code-workspace');
    await writeFile(workspace, JSON.stringify({ folders: folders.map((folder) => ({ path: folder })) }));
    await ui().page.goto(`${ui().page.url()}&workspace=${encodeURIComponent(workspace)}`);
    await ui().whenRestored();
    // On a slow machine, VS Code can show a workspace on the server without its folders, until it has a copy of the file.
    const copies = path.join(ui().dataFolder, 'data/User/caches/CachedConfigurations/workspaces');
    await until('the copy', async () => {
      const files = await filesBelow(copies).catch(() => []);
      const texts = await Promise.all(files.map((each) => readFile(each, 'utf8')));
      return texts.some((each) => each.includes('second'));
    });
    await ui().reload();
    await ui().openView('Explorer');
    const rows = ui().page.locator('.part.sidebar').getByRole('treeitem');
    for (const name of ['first', 'second']) await rows.filter({ hasText: name }).first().waitFor();
    await ui().openView('Hosted Postgres');
    await ui().computes.waitFor('Project shop');
    await ui().run('Write DATABASE_URL to .env');
    await ui().quickInput.choose('Select a folder', 'second');
    await answerLogin('someone', 'app', 'Use a placeholder');
    const [first = '', second = ''] = folders.map((folder) => path.join(folder, '.env'));
    // The last step of the command, which takes the focus before it.
    await ui().notifications.waitFor(WRITTEN);
    assert.equal(existsSync(second), true);
    assert.equal(existsSync(first), false);
  });
});
