/** Links, files that git can't check, open editors, Undo, and copies that VS Code might keep. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { appendFile, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { startLocalService, temporaryFolder, type LocalService } from '../../helpers/localService.ts';
import { reports, shopAccount } from '../../helpers/shopAccount.ts';
import { Editor } from '../../workbench/editor.ts';
import { until } from '../../workbench/until.ts';
import { connect } from './connect.ts';
import { addBrowserStorage, addFiles, placesWith, type Places } from './secretSearch.ts';
import { useWorkbench } from './useWorkbench.ts';

const PASSWORD = 'typed-password-5b20c1';
const WRITTEN = 'Wrote DATABASE_URL to .env';

describe('Write DATABASE_URL to .env', () => {
  const opened = useWorkbench();
  const account = temporaryFolder();
  const outside = temporaryFolder();
  let service: LocalService;
  const file = (name: string) => path.join(opened().folder, name);
  const text = (name: string) => readFile(file(name), 'utf8').catch(() => '');
  const git = (...args: string[]) => promisify(execFile)('git', ['-C', opened().folder, ...args]);

  /** Runs the command up to its questions about the file. */
  const write = async () => {
    const { quickInput } = opened().workbench;
    await opened().workbench.runCommand('Hosted Postgres: Write DATABASE_URL to .env');
    await quickInput.choose('Select a compute', reports);
    await quickInput.answer('Role', 'someone');
    await quickInput.answer('Database', 'app');
    await quickInput.choose("doesn't provide the password", 'Enter the password…');
    await quickInput.answer('Password of someone', PASSWORD);
  };
  const isWritten = async (name: string) => {
    await until(`the password in ${name}`, async () => (await text(name)).includes(PASSWORD));
    // The last step of the command, after it has opened the file, which takes the focus.
    await opened().workbench.notifications.waitFor(/^Wrote DATABASE_URL to /);
  };

  before(async () => {
    service = await startLocalService({ postgres: false, args: shopAccount(account) });
    await connect(opened().workbench, service);
  });
  afterEach(async () => {
    const { workbench, folder } = opened();
    await workbench.notifications.clear();
    await workbench.runCommand('View: Close All Editors');
    for (const name of await readdir(folder)) await rm(path.join(folder, name), { recursive: true });
  });
  after(async () => {
    await service.stop();
    for (const each of [account, outside]) await rm(each, { recursive: true });
  });

  it('creates a file that only the user can read, leaves no copy of it, and removes it on Undo', async () => {
    const { workbench, dataFolder } = opened();
    await write();
    await isWritten('.env');
    await new Editor(workbench.page).waitForText(PASSWORD);
    const places: Places = new Map();
    await addFiles(places, dataFolder);
    await addBrowserStorage(places, workbench.page);
    assert.deepEqual(placesWith(places, PASSWORD), []);
    if (process.platform !== 'win32') assert.equal((await stat(file('.env'))).mode & 0o777, 0o600);
    await workbench.notifications.press(WRITTEN, 'Undo');
    await until('the file to go', async () => !existsSync(file('.env')));
  });

  it('restores the previous text on Undo, unless the file was changed in the meantime', async () => {
    const { workbench } = opened();
    await writeFile(file('.env'), 'A=1\nDATABASE_URL=old\n');
    await write();
    await isWritten('.env');
    await workbench.notifications.press(WRITTEN, 'Undo');
    await until('the old text', async () => (await text('.env')) === 'A=1\nDATABASE_URL=old\n');
    await workbench.notifications.clear();
    await write();
    await isWritten('.env');
    await workbench.notifications.waitFor(WRITTEN);
    await appendFile(file('.env'), 'B=2\n');
    await workbench.notifications.press(WRITTEN, 'Undo');
    await workbench.notifications.waitFor('.env was changed in the meantime');
    assert.match(await text('.env'), /B=2/);
  });

  it('saves an open editor first, if the user agrees, and shows both changes', async () => {
    const { workbench } = opened();
    const editor = new Editor(workbench.page);
    await writeFile(file('.env'), 'A=1\n');
    await workbench.openFile('.env');
    await editor.retype('A=2\n');
    await write();
    assert.match((await workbench.dialog.read()).message, /\.env has unsaved changes/);
    await workbench.dialog.press('Cancel');
    assert.equal(await text('.env'), 'A=1\n');
    await write();
    await workbench.dialog.press('Save and Write');
    await isWritten('.env');
    assert.match(await text('.env'), /^A=2\nDATABASE_URL=postgresql:\S+\n$/);
    await editor.waitForText(/^A=2\nDATABASE_URL=postgresql:/);
  });

  it('asks about the target of a link', async () => {
    const { workbench } = opened();
    await git('init', '--quiet');
    await mkdir(file('config'));
    await writeFile(file('config/app.txt'), 'A=1\n');
    await writeFile(file('.gitignore'), '.env\n');
    await git('add', 'config/app.txt');
    await symlink(path.join('config', 'app.txt'), file('.env'));
    await write();
    const { message, detail, buttons } = await workbench.dialog.read();
    assert.match(message, /config\/app\.txt is part of the repository/);
    assert.match(detail, /\.env is a link to this file/);
    assert.deepEqual(buttons.toSorted(), ['Cancel', 'Write Anyway']);
    await workbench.dialog.press('Write Anyway');
    await isWritten('config/app.txt');
  });

  it('rejects a link out of the workspace', async () => {
    const { workbench } = opened();
    const target = path.join(outside, 'profile');
    await writeFile(target, 'A=1\n');
    await symlink(target, file('.env'));
    await write();
    await workbench.notifications.waitFor(/\.env is a link to .*profile, which isn't in the workspace/);
    assert.equal(await readFile(target, 'utf8'), 'A=1\n');
  });

  it('rejects a link that replaces the file during a question', async () => {
    const { workbench } = opened();
    const target = path.join(outside, 'late');
    await writeFile(target, 'A=1\n');
    await git('init', '--quiet');
    await write();
    assert.match((await workbench.dialog.read()).message, /Git doesn't ignore \.env/);
    await symlink(target, file('.env'));
    await workbench.dialog.press('Write Anyway');
    await workbench.notifications.waitFor(/\.env is a link to .*late, which isn't in the workspace/);
    assert.equal(await readFile(target, 'utf8'), 'A=1\n');
  });

  it('asks if git fails to check whether it ignores the file', async () => {
    const { workbench } = opened();
    await git('init', '--quiet');
    await writeFile(file('.git/config'), 'not a config');
    await write();
    const { message, buttons } = await workbench.dialog.read();
    assert.match(message, /Couldn't check whether Git ignores \.env/);
    assert.deepEqual(buttons.toSorted(), ['Add to .gitignore and Write', 'Cancel', 'Write Anyway']);
    await workbench.dialog.press('Cancel');
    assert.equal(existsSync(file('.env')), false);
  });
});
