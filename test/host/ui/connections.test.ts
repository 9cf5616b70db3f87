/** The ways from a compute into other programs: formats, services, SQL clients, tasks, and new passwords. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { findProgram } from '../../../src/base/findProgram.ts';
import { connectionUri } from '../../helpers/connectionUri.ts';
import { startLocalService, temporaryFolder, type LocalService } from '../../helpers/localService.ts';
import { mainBranch, primary, shop, shopAccount } from '../../helpers/shopAccount.ts';
import { sqlClients } from '../../helpers/sqlClients.ts';
import { queryAt } from '../../service/catalog/branchApi.ts';
import { until } from '../../workbench/until.ts';
import { connect } from './connect.ts';
import { useWorkbench } from './useWorkbench.ts';

const run = promisify(execFile);
const row = /^Compute primary/;

const ARGS = { project: 'shop', compute: 'primary', role: 'app_owner', database: 'app' };
const input = (id: string, more = {}) => ({
  id,
  type: 'command',
  command: `hostedPostgres.input.${id}`,
  args: { ...ARGS, ...more },
});
/** A task that writes what its inputs return to a file. */
const TASKS = {
  version: '2.0.0',
  tasks: [
    {
      label: 'write connections',
      type: 'process',
      command: process.execPath,
      args: [
        '-e',
        "require('node:fs').writeFileSync('out.txt', process.argv.slice(1).join('\\n'))",
        '${input:host}',
        '${input:url}',
        '${input:service}',
      ],
      problemMatcher: [],
    },
  ],
  inputs: [input('host', { pooled: true }), input('url'), input('service', { service: 'from-task' })],
};

describe('a connection', () => {
  const folder = temporaryFolder();
  const services = path.join(folder, 'services.conf');
  const clients = sqlClients();
  const workspace = path.join(folder, 'workspace');
  mkdirSync(path.join(workspace, '.vscode'), { recursive: true });
  writeFileSync(path.join(workspace, '.vscode', 'tasks.json'), JSON.stringify(TASKS));
  const opened = useWorkbench({
    folder: workspace,
    otherExtensions: clients.folders,
    env: { PGSERVICEFILE: services },
  });
  let service: LocalService;
  let host: string;
  let pooledHost: string;

  const computes = () => opened().workbench.tree('Computes');
  const uriOf = async () => {
    const login = { computeId: primary, branchId: mainBranch, role: 'app_owner', database: 'app' };
    return await connectionUri(service.client, shop, { ...login, pooled: false, host });
  };
  const clipboard = (what: string, isExpected: (text: string) => boolean) =>
    until(`${what} in the clipboard`, async () => {
      const text = await opened().workbench.readClipboard();
      return isExpected(text) && text;
    });

  before(async () => {
    service = await startLocalService({ args: shopAccount(folder) });
    const { items } = await service.client.listComputes(shop);
    const compute = items.find(({ id }) => id === primary);
    [host, pooledHost] = [compute?.host ?? '', compute?.pooler_host ?? ''];
    await connect(opened().workbench, service);
    await computes().expandProject('shop');
  });
  after(async () => {
    await service.stop();
    await rm(folder, { recursive: true });
  });

  it('is copied in a chosen format, and the next time in the same one with two keys', async () => {
    const { quickInput } = opened().workbench;
    await computes().contextMenu(row, 'Copy As…');
    const { items } = await quickInput.waitFor('Select a database');
    assert.deepEqual(items, ['app app_owner · direct', 'app app_owner · pooled', 'Another role…']);
    await quickInput.accept('Select a database');
    await quickInput.choose('Select a format', 'libpq keywords with password');
    const expected = new RegExp(
      `^host=127\\.0\\.0\\.1 port=${host.split(':')[1]} dbname=app user=app_owner password=\\S+$`,
    );
    const text = await clipboard('the keywords', (copied) => expected.test(copied));
    const { items: formats } = await reopenFormats();
    assert.equal(formats[0], 'libpq keywords with password');
    await quickInput.accept('Select a format');
    await opened().workbench.statusBar.waitFor('Copied libpq keywords with the password');
    assert.equal(await opened().workbench.readClipboard(), text);
    if (findProgram('psql') !== undefined)
      assert.match((await run('psql', [text, '-Atc', "select 'it works'"])).stdout, /it works/);
  });

  const reopenFormats = async () => {
    const { quickInput } = opened().workbench;
    await computes().contextMenu(row, 'Copy As…');
    await quickInput.accept('Select a database');
    return quickInput.waitFor('Select a format');
  };

  it('is copied without a password, for the pooled and the direct host', async () => {
    const { quickInput } = opened().workbench;
    await reopenFormats();
    await quickInput.type('Select a format', 'unpooled without');
    await quickInput.choose('Select a format', 'DATABASE_URL, DATABASE_URL_UNPOOLED without password');
    const expected = [
      `DATABASE_URL=postgresql://app_owner@${pooledHost}/app`,
      `DATABASE_URL_UNPOOLED=postgresql://app_owner@${host}/app`,
      '',
    ].join('\n');
    await clipboard('the variables', (copied) => copied === expected);
  });

  it('becomes a service of libpq, which replaces another one only after a question', async () => {
    const { workbench } = opened();
    const before = '# mine\n[other]\nhost=there\n\n[shop-primary]\nhost=old\n';
    await writeFile(services, before, { mode: 0o640 });
    const add = async () => {
      await computes().contextMenu(row, 'Add to pg_service.conf…');
      await workbench.quickInput.accept('Select a database');
      const { value } = await workbench.quickInput.waitFor('Name of the service');
      assert.equal(value, 'shop-primary');
      await workbench.quickInput.accept('Name of the service');
    };
    await add();
    const { message, detail } = await workbench.dialog.read();
    assert.equal(message, 'Replace the service shop-primary in services.conf?');
    assert.match(detail, /host=old/);
    await workbench.dialog.press('Cancel');
    assert.equal(await readFile(services, 'utf8'), before);
    await add();
    await workbench.dialog.press('Replace');
    await workbench.statusBar.waitFor('Added. Connect with service=shop-primary');
    const [, port] = host.split(':');
    assert.equal(
      await readFile(services, 'utf8'),
      before.replace('host=old', `host=127.0.0.1\nport=${port}\ndbname=app\nuser=app_owner`),
    );
    if (process.platform !== 'win32') assert.equal((await stat(services)).mode & 0o777, 0o640);
    if (findProgram('psql') === undefined) return;
    const { password } = new URL(await uriOf());
    const env = { ...process.env, PGSERVICEFILE: services, PGPASSWORD: password };
    const { stdout } = await run('psql', ['service=shop-primary', '-Atc', 'select current_user'], { env });
    assert.equal(stdout.trim(), 'app_owner');
  });

  it('is handed to SQLTools, with the password only on request', async () => {
    const { workbench } = opened();
    await computes().contextMenu(row, 'Open In…');
    await workbench.quickInput.choose('Select a SQL client', 'SQLTools');
    const [[name, values] = []] = await until('the connection', async () => {
      const received = await clients.received();
      return received.length > 0 && received;
    });
    assert.equal(name, 'sqltools.addConnection');
    assert.deepEqual(values, [
      {
        name: 'shop primary app',
        driver: 'PostgreSQL',
        connectionMethod: 'Server and Port',
        server: '127.0.0.1',
        port: Number(host.split(':')[1]),
        database: 'app',
        username: 'app_owner',
        askForPassword: true,
      },
      'Global',
    ]);
    await workbench.notifications.press('Added the connection to SQLTools', 'Copy Password');
    const { password } = new URL(await uriOf());
    await clipboard('the password', (copied) => copied === decodeURIComponent(password));
    await workbench.notifications.clear();
  });

  it('is handed to Database Client as a connection string without the password', async () => {
    const { workbench } = opened();
    await computes().contextMenu(row, 'Open In…');
    await workbench.quickInput.choose('Select a SQL client', 'Database Client');
    await workbench.notifications.waitFor('Paste it in Database Client');
    assert.equal(await workbench.readClipboard(), `postgresql://app_owner@${host}/app`);
    assert.deepEqual((await clients.received()).at(-1), ['postgresql.connection.add', []]);
    await workbench.notifications.clear();
  });

  it('is handed to PostgreSQL by a link without the password', async () => {
    const { workbench } = opened();
    await computes().contextMenu(row, 'Open In…');
    await workbench.quickInput.choose('Select a SQL client', 'PostgreSQL (Microsoft)');
    const query = await until('the link', async () => {
      const [address, received] = (await clients.received()).at(-1) ?? [];
      return address === '/connect' && typeof received === 'string' && received;
    });
    const values = Object.fromEntries(new URLSearchParams(query));
    assert.deepEqual(values, {
      server: '127.0.0.1',
      port: host.split(':')[1],
      database: 'app',
      user: 'app_owner',
      profileName: 'shop primary app',
      authenticationType: 'SqlLogin',
    });
    await workbench.notifications.clear();
    // In the browser, the link goes through a page of the server.
    for (const page of workbench.page.context().pages()) if (page !== workbench.page) await page.close();
  });

  it('is an input of a task, which asks nothing', async () => {
    const { workbench } = opened();
    await workbench.runCommand('Tasks: Run Task');
    await workbench.quickInput.choose('Select the task to run', 'write connections');
    const out = await until('the output', async () => {
      const lines = (await readFile(path.join(workspace, 'out.txt'), 'utf8').catch(() => '')).split('\n');
      return lines.length === 3 && lines;
    });
    assert.deepEqual(out, [pooledHost, `postgresql://app_owner@${host}/app`, 'from-task']);
    assert.match(await readFile(services, 'utf8'), /\n\n\[from-task\]\nhost=127\.0\.0\.1\n/);
  });

  it('gets a new password, which is shown once and copied', async () => {
    const { workbench } = opened();
    const before = await uriOf();
    await computes().contextMenu(new RegExp(`^Branch ${mainBranch}`), 'Reset Password…');
    await workbench.quickInput.choose('Select a role', 'app_owner');
    const question = await workbench.dialog.read();
    assert.equal(question.message, `Reset the password of app_owner on branch ${mainBranch} (main)?`);
    await workbench.dialog.press('Reset Password');
    const { detail, buttons } = await until('the new password', async () => {
      const shown = await workbench.dialog.read();
      return shown.message === 'Reset the password of app_owner' && shown;
    });
    assert.deepEqual(buttons.toSorted(), ['Close', 'Copy Password']);
    await workbench.dialog.press('Copy Password');
    await clipboard('the new password', (copied) => copied === detail);
    assert.equal(decodeURIComponent(new URL(await uriOf()).password), detail);
    assert.deepEqual(await queryAt(await uriOf(), 'select current_user::text'), ['app_owner']);
    await assert.rejects(queryAt(before, 'select 1'), /password authentication failed/);
  });
});
