import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { connectionUri } from '../../helpers/connectionUri.ts';
import { call } from '../../helpers/call.ts';
import { filesBelow } from '../../helpers/filesBelow.ts';
import { startLocalService, temporaryFolder, type LocalService } from '../../helpers/localService.ts';
import { mainBranch as branch, primary, shop, shopAccount } from '../../helpers/shopAccount.ts';
import { queryAt } from '../../service/catalog/branchApi.ts';
import { Editor } from '../../workbench/editor.ts';
import { until } from '../../workbench/until.ts';
import type { Workbench } from '../../workbench/workbench.ts';
import { connect } from './connect.ts';
import { useWorkbench } from './useWorkbench.ts';

const settings = {
  'hostedPostgres.connectionString.role': 'app_owner',
  'hostedPostgres.connectionString.database': 'app',
  // Rendered as DOM text, which the test can read.
  'terminal.integrated.gpuAcceleration': 'off',
  'git.openRepositoryInParentFolders': 'never',
};

const owner = { role: 'app_owner', database: 'app' };

describe('connection strings', () => {
  const opened = useWorkbench({ settings });
  const folder = temporaryFolder();
  let service: LocalService;
  let host: string;
  const env = () => path.join(opened().folder, '.env');
  const git = (...args: string[]) => promisify(execFile)('git', ['-C', opened().folder, ...args]);
  const chooseCompute = async () => {
    const { quickInput } = opened().workbench;
    await quickInput.choose('Select a compute', primary);
  };
  /** Chooses a role whose password only the user knows, because it was set in SQL. */
  const chooseUnknown = async () => {
    const { quickInput } = opened().workbench;
    await quickInput.choose('Select a database', 'Another role…');
    await quickInput.choose('Select a host', 'Direct');
    await quickInput.choose('Role', 'né@1');
    await quickInput.choose('Database', 'a/b');
  };
  const write = async () => {
    const { workbench } = opened();
    await workbench.runCommand('Hosted Postgres: Write DATABASE_URL to .env');
    await chooseCompute();
    await workbench.quickInput.accept('Select a database');
  };

  /** Waits for the command's last step and removes its message, which would pass for that of the next one. */
  const isDone = async () => {
    await opened().workbench.notifications.waitFor('Wrote DATABASE_URL to .env');
    await opened().workbench.notifications.clear();
  };

  before(async () => {
    service = await startLocalService({ args: shopAccount(folder) });
    const { items } = await service.client.listComputes(shop);
    host = items.find(({ id }) => id === primary)?.host ?? '';
    await createRole(service, 'né@1', 'a/b');
    await connect(opened().workbench, service);
  });
  after(async () => {
    await service.stop();
    await rm(folder, { recursive: true });
  });

  it('are copied with the password from the service', async () => {
    const { workbench } = opened();
    await workbench.runCommand('Hosted Postgres: Copy Connection String…');
    await chooseCompute();
    await workbench.quickInput.accept('Select a database');
    const wanted = { computeId: primary, branchId: branch, ...owner, pooled: false, host };
    const uri = await connectionUri(service.client, shop, wanted);
    assert.match(uri, /^postgresql:\/\/app_owner:[^@]+@/);
    await until('it in the clipboard', async () => (await workbench.readClipboard()) === uri);
  });

  it('are copied with a typed password, percent-encoded, if the service has none', async () => {
    const { workbench } = opened();
    await workbench.runCommand('Hosted Postgres: Copy Connection String…');
    await chooseCompute();
    await chooseUnknown();
    await workbench.quickInput.choose("doesn't provide the password", 'Enter the password…');
    const { password } = await workbench.quickInput.waitFor('Password of né@1');
    assert.equal(password, true);
    await workbench.quickInput.answer('Password of né@1', 'p@ss/w:rd%');
    const uri = `postgresql://n%C3%A9%401:p%40ss%2Fw%3Ard%25@${host}/a%2Fb`;
    await until('it in the clipboard', async () => (await workbench.readClipboard()) === uri);
  });

  it('are copied with a placeholder for the password', async () => {
    const { workbench } = opened();
    await workbench.runCommand('Hosted Postgres: Copy Connection String…');
    await chooseCompute();
    await chooseUnknown();
    await workbench.quickInput.choose("doesn't provide the password", 'Use a placeholder');
    const uri = `postgresql://n%C3%A9%401:PASSWORD@${host}/a%2Fb`;
    await until('it in the clipboard', async () => (await workbench.readClipboard()) === uri);
  });

  it('are written to a file that git does not ignore only if the user confirms', async () => {
    const { workbench } = opened();
    await writeFile(env(), 'A=1\nexport DATABASE_URL="old" # why\nB=2\n');
    await git('init', '--quiet');
    await write();
    const { message, buttons } = await workbench.dialog.read();
    assert.match(message, /Git doesn't ignore \.env/);
    assert.deepEqual(buttons.toSorted(), ['Add to .gitignore and Write', 'Cancel', 'Write Anyway']);
    await workbench.dialog.press('Cancel');
    assert.match(await readFile(env(), 'utf8'), /old/);
  });

  it('replace only the variable, and add the file to .gitignore', async () => {
    const { workbench } = opened();
    await write();
    await workbench.dialog.press('Add to .gitignore and Write');
    await until('the file', async () =>
      /^A=1\nexport DATABASE_URL=postgresql:\/\/app_owner:[^@]+@127\.0\.0\.1:\d+\/app # why\nB=2\n$/.test(
        await readFile(env(), 'utf8'),
      ),
    );
    const ignored = path.join(opened().folder, '.gitignore');
    await until('.gitignore', async () => (await readFile(ignored, 'utf8').catch(() => '')) === '.env\n');
    await isDone();
  });

  it('are written without confirmation to a file that git ignores', async () => {
    const { workbench } = opened();
    await writeFile(env(), '');
    await until('an empty editor', async () => (await new Editor(workbench.page).text()) === '');
    await write();
    await until('the file', async () =>
      (await readFile(env(), 'utf8')).startsWith('DATABASE_URL=postgresql:'),
    );
    await isDone();
  });

  it('are written to a file of the repository only after a warning', async () => {
    const { workbench } = opened();
    await git('add', '--force', '.env');
    await write();
    const { message, buttons } = await workbench.dialog.read();
    assert.match(message, /\.env is part of the repository/);
    assert.deepEqual(buttons.toSorted(), ['Cancel', 'Write Anyway']);
    await workbench.dialog.press('Cancel');
  });

  it('open psql with one click, which wakes the compute, and give it the password by a private file', async () => {
    const { workbench, dataFolder } = opened();
    const { page } = workbench;
    const computes = workbench.tree('Computes');
    await workbench.openView('Hosted Postgres');
    await computes.expandProject('shop');
    await computes.waitFor(/^Compute primary, idle/);
    const login = { computeId: primary, branchId: branch, ...owner, pooled: false, host };
    const { password } = new URL(await connectionUri(service.client, shop, login));
    // The status bar shows the message for a few seconds.
    const shown = Promise.all([
      computes.waitFor(/^Compute primary, active/),
      workbench.statusBar.waitFor('primary is active'),
    ]);
    shown.catch(() => undefined);
    await computes.contextMenu(/^Compute primary/, 'Open psql');
    const terminal = page.locator('.terminal-wrapper.active');
    const shows = (text: RegExp) => {
      const isShown = async () => {
        const rows = await terminal.locator('.xterm-rows').allInnerTexts();
        return rows.some((row) => text.test(row.replaceAll('\u00a0', ' ')));
      };
      // The compute is suspended: Postgres has to start.
      return until(`${String(text)} in the terminal`, isShown);
    };
    await shows(/app=>/);
    await shown;
    const [file = '', ...others] = await passFiles(dataFolder);
    assert.deepEqual(others, []);
    assert.ok((await readFile(file, 'utf8')).endsWith(`:app_owner:${decodeURIComponent(password)}\n`));
    if (process.platform !== 'win32') assert.equal((await stat(file)).mode & 0o777, 0o600);
    if (process.platform === 'linux') assert.doesNotMatch(await psqlProcess(host), new RegExp(password));
    await page.keyboard.type("select 'it' || ' works' as said;\n");
    await shows(/it works/);
    await page.keyboard.type('\\q\n');
    await terminal.waitFor({ state: 'hidden' });
    await until('the file to go', async () => (await passFiles(dataFolder)).length === 0);
  });

  it('are written to the selected folder of a multi-root workspace', async () => {
    const { workbench } = opened();
    const [one, other] = [path.join(folder, 'one'), path.join(folder, 'other')];
    for (const each of [one, other]) await mkdir(each);
    const file = path.join(folder, 'both.code-workspace');
    await writeFile(file, JSON.stringify({ folders: [{ path: one }, { path: other }] }));
    await workbench.page.goto(`${workbench.page.url()}&workspace=${encodeURIComponent(file)}`);
    await workbench.whenRestored();
    // On a slow machine, VS Code can show a workspace on the server without its folders, until it has a copy of the file.
    const copies = path.join(opened().dataFolder, 'data/User/caches/CachedConfigurations/workspaces');
    await until('the copy', async () => {
      const files = await filesBelow(copies).catch(() => []);
      const texts = await Promise.all(files.map(async (each) => readFile(each, 'utf8')));
      return texts.some((text) => text.includes(other));
    });
    await workbench.reload();
    await showFolders(workbench, ['one', 'other']);
    await workbench.openView('Hosted Postgres');
    await workbench.tree('Computes').waitFor('Project shop');
    await workbench.runCommand('Hosted Postgres: Write DATABASE_URL to .env');
    await workbench.quickInput.choose('Select a folder', 'other');
    await chooseCompute();
    await workbench.quickInput.accept('Select a database');
    await until('the file in the other folder', async () => existsSync(path.join(other, '.env')));
    assert.equal(existsSync(path.join(one, '.env')), false);
  });
});

async function showFolders(workbench: Workbench, names: readonly string[]): Promise<void> {
  const rows = workbench.page.locator('.part.sidebar').getByRole('treeitem');
  await workbench.openView('Explorer');
  for (const name of names) await rows.filter({ hasText: name }).first().waitFor();
}

/** Creates a role with a database. The service doesn't know the role's password. */
async function createRole({ baseUrl, key, client }: LocalService, role: string, database: string) {
  const post = (place: string, body?: unknown) =>
    call(baseUrl, { method: 'POST', path: `/projects/${shop}${place}`, key, body });
  const onBranch = `/branches/${branch}`;
  assert.equal((await post(`${onBranch}/roles`, { role: { name: role } })).status, 201);
  const created = await post(`${onBranch}/databases`, { database: { name: database, owner_name: role } });
  assert.equal(created.status, 201, created.text);
  const { items } = await client.listComputes(shop);
  const host = items.find(({ id }) => id === primary)?.host ?? '';
  const login = { computeId: primary, branchId: branch, role, database, pooled: false, host };
  await queryAt(await connectionUri(client, shop, login), `alter role "${role}" password 'own'`);
  await client.suspendCompute(shop, primary);
  await until('the compute to suspend', async () => {
    const computes = await client.listComputes(shop);
    return computes.items.some(({ id, current_state }) => id === primary && current_state === 'idle');
  });
}

/** The password files that the extension has made for psql. */
async function passFiles(dataFolder: string): Promise<string[]> {
  const storage = path.join(dataFolder, 'data/User/globalStorage/hosted-postgres.hosted-postgres');
  const names = await readdir(storage);
  return names.map((name) => path.join(storage, name, 'pgpass')).filter((file) => existsSync(file));
}

/** The command line and the environment of the psql that is connected to a host. */
async function psqlProcess(host: string): Promise<string> {
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const read = (name: string) => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '');
    const command = await read('cmdline');
    if (/psql\0/.test(command) && command.includes(`@${host}/`)) return `${command} ${await read('environ')}`;
  }
  throw new Error('psql is not running');
}
