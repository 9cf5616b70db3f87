/** Connections for other programs: formats, services, SQL clients, tasks, and new passwords. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { readdir, readFile, rename, stat } from 'node:fs/promises';
import path from 'node:path';
import { findProgram } from '../../../src/base/programs/findProgram.ts';
import { connectionUri } from '../../helpers/connectionUri.ts';
import { temporaryFolder } from '../../helpers/localService.ts';
import { mainBranch, primary, shop } from '../../helpers/shopAccount.ts';
import { sqlClients } from '../../helpers/sqlClients.ts';
import { Editor } from '../../workbench/editor.ts';
import { until } from '../../workbench/until.ts';
import { connect, useService } from './connect.ts';
import { addProcesses, placesWith, type Places } from './secretSearch.ts';
import { READABLE_TERMINALS } from './sharedWindows.ts';
import { useWorkbench } from './useWorkbench.ts';

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
  const ui = useWorkbench({
    folder: workspace,
    otherExtensions: clients.folders,
    settings: READABLE_TERMINALS,
    // The user's environment may only decide where the file of services is.
    env: { PGSERVICEFILE: services, PGSERVICE: 'production', PGHOSTADDR: '127.0.0.9', PGPASSWORD: 'x' },
  });
  const service = useService({ postgres: true });
  let host: string;
  let pooledHost: string;

  const passwordOf = async () => {
    const login = { computeId: primary, branchId: mainBranch, role: 'app_owner', database: 'app' };
    const uri = await connectionUri(service().client, shop, { ...login, pooled: false, host });
    return decodeURIComponent(new URL(uri).password);
  };

  before(async () => {
    const { items } = await service().client.listComputes(shop);
    const compute = items.find(({ id }) => id === primary);
    [host, pooledHost] = [compute?.host ?? '', compute?.pooler_host ?? ''];
    await connect(ui(), service(), 'shop');
  });

  it('is opened in psql with one click, which wakes the compute, and the password is in a private file', async function () {
    if (findProgram('psql') === undefined) return this.skip();
    await ui().computes.waitFor(/^Compute primary, idle/);
    // The status bar shows the message for a few seconds.
    const shown = Promise.all([
      ui().computes.waitFor(/^Compute primary, active/),
      ui().statusBar.waitFor('Now active: the primary of main (shop)'),
    ]);
    shown.catch(() => undefined);
    await ui().computes.contextMenu(row, 'Open psql');
    await ui().terminal.waitFor(/app=>/);
    await ui().page.locator('.single-terminal-tab').filter({ hasText: 'shop / main' }).waitFor();
    await shown;
    const [file = '', ...more] = await passFiles(ui().dataFolder);
    assert.deepEqual(more, []);
    assert.ok((await readFile(file, 'utf8')).endsWith(`:app_owner:${await passwordOf()}\n`));
    if (process.platform !== 'win32') assert.equal((await stat(file)).mode & 0o777, 0o600);
    if (process.platform === 'linux') {
      const places: Places = new Map();
      await addProcesses(places, [ui().server.pid]);
      assert.ok(placesWith(places, `@${host}/`).length > 0, 'psql is among the processes');
      assert.deepEqual(placesWith(places, await passwordOf()), []);
    }
    await ui().terminal.type("select 'it' || ' works' as said;\n");
    await ui().terminal.waitFor(/it works/);
    await ui().page.keyboard.type('\\q\n');
    await ui().terminal.closed();
    await until('the file to go', async () => (await passFiles(ui().dataFolder)).length === 0);
  });

  it('is lost by a psql whose compute is deleted, as the question says before, and its terminal after', async function () {
    if (findProgram('psql') === undefined || process.platform === 'win32') return this.skip();
    const { compute } = await service().client.createCompute(shop, {
      branch_id: mainBranch,
      type: 'read_only',
    });
    await ui().run('Refresh');
    const replica = new RegExp(`^Compute .*${compute?.id}$`);
    await ui().computes.contextMenu(replica, 'Open psql');
    await ui().terminal.waitFor(/app=>/);
    await ui().computes.contextMenu(replica, 'Delete Compute…');
    assert.match(
      (await ui().dialog.read()).detail,
      /stays on the branch\. The open psql loses its connection too\.$/,
    );
    await ui().dialog.press('Delete');
    // A terminal may break a line at any place.
    const letters = 'This psql is no longer connected'.split('');
    await ui().terminal.waitFor(new RegExp(letters.join('\\n?')));
    await ui().terminal.type('\\q\n');
    await ui().terminal.closed();
  });

  it('keeps its terminal with the reason if its compute did not start, and the row has the reason and the log', async function () {
    if (findProgram('psql') === undefined) return this.skip();
    await service().client.startCompute(shop, primary);
    await ui().computes.waitFor(/^Compute primary, active,/);
    await service().client.suspendCompute(shop, primary);
    await ui().computes.waitFor(/^Compute primary, idle,/);
    const file = await controlFile(service().dataDir);
    await rename(file, `${file}.moved`);
    await ui().computes.contextMenu(row, 'Open psql');
    await ui().terminal.waitFor(/pg_control": No such file[\s\S]*Press any key/);
    await ui().computes.waitFor(/^Compute primary, idle, failed,/);
    assert.match(await ui().computes.tooltip(row), /Failure\s+Postgres did not start: .*pg_control/);
    await ui().computes.inlineAction(row, 'Show Postgres Log');
    await new Editor(ui().page).waitForText(/Z postgres: could not find the database system/);
    await ui().terminal.focus();
    await ui().page.keyboard.press('q');
    await ui().terminal.closed();
    await rename(`${file}.moved`, file);
    await ui().computes.inlineAction(row, 'Start Compute');
    await ui().computes.waitFor(/^Compute primary, active,/);
    await new Editor(ui().page).waitForText(/database system is ready to accept connections/);
    assert.deepEqual(await ui().notifications.all(), []);
    await ui().runCommand('View: Close Editor');
  });

  it('is completed in .env with its password, but not if git could commit that', async () => {
    const editor = new Editor(ui().page);
    writeFileSync(path.join(workspace, '.env'), '');
    await ui().openFile('.env');
    await editor.retype('DATABASE_URL=');
    assert.match(await editor.waitForSuggestion(host), /^main \(shop\) /);
    await editor.accept(host);
    const uri = `postgresql://app_owner:${await passwordOf()}@${host}/app`;
    await editor.waitForText(`DATABASE_URL=${uri}`);
    execFileSync('git', ['init', '--quiet', workspace]);
    await editor.retype('DATABASE_URL=');
    await editor.accept(host);
    await ui().notifications.waitFor("The password wasn't inserted, because Git doesn't ignore");
    await editor.waitForText(`DATABASE_URL=postgresql://app_owner:PASSWORD@${host}/app`);
    await ui().notifications.clear();
    await ui().runCommand('View: Revert and Close Editor');
  });

  it('is copied in a chosen format, which is offered first the next time', async () => {
    await ui().computes.contextMenu(row, 'More', 'Copy As…');
    const { items } = await ui().quickInput.waitFor('Select a database');
    assert.deepEqual(items, ['app app_owner · direct', 'app app_owner · pooled', 'Another role…']);
    await ui().quickInput.accept('Select a database');
    await ui().quickInput.choose('Select a format', 'libpq keywords with password');
    const expected = new RegExp(
      `^host=127\\.0\\.0\\.1 port=${host.split(':')[1]} dbname=app user=app_owner password=\\S+$`,
    );
    const text = await ui().waitForClipboard(expected);
    await ui().computes.contextMenu(row, 'More', 'Copy As…');
    await ui().quickInput.accept('Select a database');
    const { items: formats } = await ui().quickInput.waitFor('Select a format');
    assert.equal(formats[0], 'libpq keywords with password');
    await ui().quickInput.accept('Select a format');
    await ui().statusBar.waitFor('Copied libpq keywords with the password');
    assert.equal(await ui().readClipboard(), text);
  });

  it('is passed to SQLTools, with the password only on request', async () => {
    await ui().computes.contextMenu(row, 'Open In…');
    await ui().quickInput.choose('Select a SQL client', 'SQLTools');
    const [[name, values] = []] = await until('the connection', async () => {
      const received = await clients.received();
      return received.length > 0 && received;
    });
    assert.equal(name, 'sqltools.addConnection');
    assert.deepEqual(values, [
      {
        name: 'shop / main / app',
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
    await ui().notifications.press('Added the connection to SQLTools', 'Copy Password');
    await ui().waitForClipboard(await passwordOf());
    await ui().notifications.clear();
  });

  it('is passed to Database Client as a connection string without the password', async () => {
    await ui().computes.contextMenu(row, 'Open In…');
    await ui().quickInput.choose('Select a SQL client', 'Database Client');
    await ui().notifications.waitFor('Paste it in Database Client');
    assert.equal(await ui().readClipboard(), `postgresql://app_owner@${host}/app`);
    assert.deepEqual((await clients.received()).at(-1), ['postgresql.connection.add', []]);
    await ui().notifications.clear();
  });

  it('is passed to PostgreSQL by a link without the password', async () => {
    await ui().computes.contextMenu(row, 'Open In…');
    await ui().quickInput.choose('Select a SQL client', 'PostgreSQL (Microsoft)');
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
      profileName: 'shop / main / app',
      authenticationType: 'SqlLogin',
    });
    await ui().notifications.clear();
    // The browser opens the link through a page of the server.
    for (const page of ui().page.context().pages()) if (page !== ui().page) await page.close();
  });

  it('is an input of a task, which asks nothing', async () => {
    await ui().runCommand('Tasks: Run Task');
    await ui().quickInput.choose('Select the task to run', 'write connections');
    const out = await until('the output', async () => {
      const lines = (await readFile(path.join(workspace, 'out.txt'), 'utf8').catch(() => '')).split('\n');
      return lines.length === 3 && lines;
    });
    assert.deepEqual(out, [pooledHost, `postgresql://app_owner@${host}/app`, 'from-task']);
    assert.match(await readFile(services, 'utf8'), /^\[from-task\]\nhost=127\.0\.0\.1\n/m);
  });

  it('gets a new password, which is shown once and copied', async () => {
    await ui().computes.contextMenu(new RegExp(`^Branch main.*${mainBranch}`), 'More', 'Reset Password…');
    await ui().quickInput.choose('Select a role', 'app_owner');
    const question = await ui().dialog.read();
    assert.equal(question.message, 'Reset the password of app_owner on main (shop)?');
    await ui().dialog.press('Reset Password');
    const { detail, buttons } = await until('the new password', async () => {
      const shown = await ui().dialog.read();
      return shown.message === 'Reset the password of app_owner' && shown;
    });
    assert.deepEqual(buttons.toSorted(), ['Close', 'Copy Password']);
    await ui().dialog.press('Copy Password');
    await ui().waitForClipboard(detail);
    assert.equal(await passwordOf(), detail);
  });
});

/** The password files that the extension has created for psql. */
async function passFiles(dataFolder: string): Promise<string[]> {
  const storage = path.join(dataFolder, 'data/User/globalStorage/hosted-postgres.hosted-postgres');
  const names = await readdir(storage);
  return names.map((name) => path.join(storage, name, 'pgpass')).filter((file) => existsSync(file));
}

/** A file without which the Postgres of the branch doesn't start. */
async function controlFile(dataDir: string): Promise<string> {
  const names = await readdir(dataDir, { recursive: true });
  const name = names.find((each) => each.endsWith(path.join(mainBranch, 'data/global/pg_control')));
  return path.join(dataDir, name ?? assert.fail('The branch has no data'));
}
