import assert from 'node:assert/strict';
import pg from 'pg';
import { findProgram } from '../../../src/base/programs/findProgram.ts';
import { branchCalls } from '../../helpers/branchCalls.ts';
import { startLocalService, type LocalService } from '../../helpers/localService.ts';
import { branchApi, BRANCH as parent, PROJECT } from '../../real/service/postgres/catalog/branchApi.ts';
import { query } from '../../real/service/postgres/clients.ts';
import { until } from '../../workbench/until.ts';
import { connect } from './connect.ts';
import { READABLE_TERMINALS } from './sharedWindows.ts';
import { useWorkbench } from './useWorkbench.ts';

/** Milliseconds. */
const DAY = 86_400_000;
const QUESTION = 'Select the moment that work (shop) goes back to';

describe('Undo…', () => {
  const ui = useWorkbench({ settings: READABLE_TERMINALS });
  let service: LocalService;
  let id: string;
  let row: string;
  /** The connection string, which stays the same. */
  let uri: string;

  before(async () => {
    service = await startLocalService();
    const branch = { name: 'work', parent_id: parent };
    const endpoints = [{ type: 'read_write' }];
    id = (await branchCalls(service).change('POST', `/${PROJECT}/branches`, { branch, endpoints })).branch.id;
    row = `Branch work, ${id}`;
    uri = await branchApi(() => service, id).uri();
    await query(uri, 'create table users (id int primary key, email text)');
    await query(uri, `insert into users select id, id || '@example.com' from generate_series(1, 3) as id`);
    await branchApi(() => service, id).waitForHistory();
    await connect(ui(), service, 'shop');
    await ui().computes.waitFor(row);
  });
  after(() => service.stop());
  afterEach(() => ui().notifications.clear());

  const columns = () =>
    query(
      uri,
      `select string_agg(attname, ' ' order by attnum) from pg_attribute where attrelid = 'users'::regclass and attnum > 0 and not attisdropped`,
    ).catch(() => []);
  /** With open connections, Undo would ask. */
  const waitForNoConnections = () => branchApi(() => service, id).waitForNoConnections();
  const waitForColumns = async (expected: string) => {
    await until(`the columns ${expected}`, async () => (await columns())[0] === expected);
    await waitForNoConnections();
  };
  const names = async () => (await branchCalls(service).branches(PROJECT)).map(({ name }) => name);

  const moment = 'Select a moment of work (shop), or type a time';
  const shown = () => ui().page.locator('.tabs-container .tab.active');
  const waitForTitle = (title: RegExp) =>
    until(String(title), async () => title.test((await shown().getAttribute('aria-label')) ?? ''));
  const temporary = async () => (await names()).filter((name) => name.startsWith('look-'));
  const waitUntilRemoved = () =>
    until('the temporary branch to go', async () => (await temporary()).length === 0);

  it('brings back a dropped column with its data under the same connection string, also for a program that is connected', async () => {
    // As a server that is being developed and keeps running.
    const pool = new pg.Pool({ connectionString: uri, idleTimeoutMillis: 0 });
    pool.on('error', () => {});
    assert.equal((await pool.query('select email from users')).rowCount, 3);
    const before = new Date().toISOString();
    await query(uri, 'alter table users drop column email');
    await assert.rejects(pool.query('select email from users'), /column "email" does not exist/);
    // The pool closes a connection on which a statement has failed.
    await pool.query('select id from users');
    await ui().computes.contextMenu(row, 'Undo…');
    await until('the moments', async () =>
      (await ui().quickInput.waitFor(QUESTION)).items.some((item) => item.startsWith('Enter a time…')),
    );
    await ui().quickInput.answer(QUESTION, before);
    const { detail } = await ui().dialog.read();
    assert.match(
      detail,
      /^Its current data is kept as the branch before-undo-.* 1 open connection is dropped\.$/,
    );
    await ui().dialog.press('Undo');
    await ui().notifications.waitFor(/^Undid work \(shop\)\. .* data is kept as before-undo-.* until /);
    await waitForColumns('id email');
    assert.deepEqual(await query(uri, 'select email from users order by id'), [
      '1@example.com',
      '2@example.com',
      '3@example.com',
    ]);
    assert.equal((await pool.query('select email from users')).rowCount, 3);
    await pool.end();
  });

  it('is undone by the action of its message, and by what it offers first', async () => {
    await ui().computes.contextMenu(row, 'Undo…');
    await until('the first moment', async () =>
      (await ui().quickInput.waitFor(QUESTION)).items[0]?.startsWith('Undo the undo of '),
    );
    const { items } = await ui().quickInput.waitFor(QUESTION);
    assert.match(items[0] ?? '', /^Undo the undo of \d+:\d\d:\d\d/);
    await ui().quickInput.accept(QUESTION);
    await ui().notifications.waitFor(/^Undid work \(shop\)\. You selected: Undo the undo of/);
    await waitForColumns('id');
    await ui().notifications.press('Undid work (shop). You selected: Undo the undo of', 'Undo the Undo');
    await ui().notifications.waitFor('Undid work (shop). You selected: Undo the undo');
    await waitForColumns('id email');
    // They are kept for a week, or for ever if the user says so.
    const lifetimes = async () =>
      (await branchCalls(service).branches(PROJECT))
        .filter(({ name }) => name.startsWith('before-undo-'))
        .map(({ expires_at }) => expires_at && Math.round((Date.parse(expires_at) - Date.now()) / DAY));
    assert.deepEqual(await lifetimes(), [7, 7, 7]);
    await ui().notifications.press('Undid work (shop). You selected: Undo the undo', 'Keep Previous Data');
    await until('one that is kept', async () => (await lifetimes()).includes(undefined));
  });

  it('offers at once what happened in the first minute', async () => {
    await query(uri, 'delete from users');
    await waitForNoConnections();
    await ui().computes.contextMenu(row, 'Undo…');
    const items = await until('the deletion', async () => {
      const shown = (await ui().quickInput.waitFor(QUESTION)).items;
      return shown.some((item) => item.startsWith('Before 3 rows were deleted')) ? shown : undefined;
    });
    assert.ok(items.some((item) => item.startsWith('As it was created')));
    await ui().quickInput.accept(QUESTION);
    await ui().notifications.waitFor(/^Undid work \(shop\)\. You selected: Before 3 rows were deleted/);
    await until(
      'the rows',
      async () => (await query(uri, 'select count(*)::int from users').catch(() => []))[0] === 3,
    );
  });

  it('lets one look at data from before an undo, while what it has kept would expire', async () => {
    await ui().computes.contextMenu(row, 'Data and History', 'Compare Schema with a Time…');
    await ui().quickInput.choose(moment, 'As it was created');
    await waitForTitle(/^app: before-undo-.* · .* ↔ work \(2 added\)/);
    // It takes the keyboard focus after its title is shown, which closes a menu.
    await ui().page.locator('.monaco-diff-editor .monaco-editor.focused').waitFor();
    await ui().computes.contextMenu(row, 'Data and History', 'Create Branch from a Time…');
    await ui().quickInput.choose(moment, 'As it was created');
    await ui().quickInput.answer('Name of the new branch of work', 'first');
    await ui().quickInput.accept('Select or type when the branch is deleted');
    await until('the branch', async () => (await names()).includes('first'));
  });

  it('says what has changed since each moment', async () => {
    await ui().computes.contextMenu(row, 'Data and History', 'Mark This Moment…');
    await ui().quickInput.answer('Name of this moment of work (shop)', 'before the import');
    await query(uri, 'create table imports (id int)');
    await query(uri, "insert into users values (10, '10@example.com'), (11, '11@example.com')");
    await query(uri, "update users set email = 'new' where id = 10");
    // It is started again for the changes.
    await branchApi(() => service, id).suspend();
    await ui().computes.contextMenu(row, 'Undo…');
    await until('the changes', async () => {
      const { items } = await ui().quickInput.waitFor(QUESTION);
      const moment = items.find((item) => item.startsWith('“before the import”'));
      return moment?.endsWith(' · since then: imports created; users 2 added, 1 changed');
    });
    await ui().quickInput.cancel(QUESTION);
    await query(uri, 'drop table imports');
    await query(uri, 'delete from users where id > 3');
  });

  it('says what is no time while it is typed', async () => {
    await ui().computes.contextMenu(row, 'Undo…');
    await ui().quickInput.type(QUESTION, '2099-01-01 10:00');
    await until('the reason', async () =>
      /This time is in the future/.test((await ui().quickInput.waitFor(QUESTION)).items[0] ?? ''),
    );
    await ui().quickInput.cancel(QUESTION);
  });

  it('lets one look first at what has changed in the schema', async () => {
    const past = new Date().toISOString();
    await query(uri, 'create table later ()');
    await ui().computes.contextMenu(row, 'Data and History', 'Compare Schema with a Time…');
    await ui().quickInput.answer(moment, past);
    await waitForTitle(/^app: work · .* ↔ work \(1 added\)/);
  });

  it('lets one look first at which rows have changed, and again later', async () => {
    const past = new Date().toISOString();
    await query(uri, "insert into users values (4, '4@example.com')");
    await ui().computes.contextMenu(row, 'Data and History', 'Compare Rows with a Time…');
    await ui().quickInput.answer(moment, past);
    await ui().quickInput.choose('Select a table or view', 'users');
    await waitForTitle(/^users: 1 added \(work · .* ↔ work\)/);
    await waitUntilRemoved();
    await query(uri, 'delete from users where id = 1');
    await ui().page.getByRole('button', { name: 'Refresh Rows' }).click();
    await waitForTitle(/^users: 1 added, 1 deleted \(work · .* ↔ work\)/);
    await waitUntilRemoved();
  });

  it('lets one look first with psql, whose branch goes with the terminal', async function () {
    if (findProgram('psql') === undefined) return this.skip();
    const past = new Date().toISOString();
    await query(uri, 'delete from users where id > 2');
    await ui().computes.contextMenu(row, 'Data and History', 'psql at a Time…');
    await ui().quickInput.answer(moment, past);
    await ui().terminal.waitFor(/app=>/);
    await ui().terminal.type("select 'then ' || count(*) from users;\n");
    await ui().terminal.waitFor(/then 3/);
    await ui().page.keyboard.type('delete from users;\n');
    await ui().terminal.waitFor(/read-only transaction/);
    await ui().page.keyboard.type('\\q\n');
    await ui().terminal.closed();
    await waitUntilRemoved();
  });

  it('offers a moment by the name that was given to it', async () => {
    await ui().computes.contextMenu(row, 'Data and History', 'Mark This Moment…');
    await ui().quickInput.answer('Name of this moment of work (shop)', 'clean start');
    await query(uri, 'delete from users');
    await waitForNoConnections();
    await ui().computes.contextMenu(row, 'Undo…');
    await ui().quickInput.choose(QUESTION, '“clean start”');
    await ui().notifications.waitFor(/^Undid work \(shop\)\. You selected: “clean start”/);
    await until('the row', async () => (await query(uri, 'select id from users').catch(() => []))[0] === 2);
  });

  let rowsOfSnapshot: number | undefined;

  it('takes a protected branch back to a snapshot under the same connection string, and forward again', async () => {
    const title = 'Snapshot “before the clean-up”';
    const count = () => query(uri, 'select count(*)::int from users').catch(() => []);
    const waitForRows = (expected: number) =>
      until(`${expected} rows`, async () => (await count())[0] === expected);
    const [rows] = (await count()) as number[];
    assert.ok(rows !== undefined && rows > 0);
    rowsOfSnapshot = rows;
    await ui().computes.contextMenu(row, 'Data and History', 'Create Snapshot…');
    await ui().quickInput.answer('Name of the snapshot of work', 'before the clean-up');
    await ui().statusBar.waitFor('Created the snapshot before the clean-up of work (shop)');
    await query(uri, 'delete from users');
    await branchCalls(service).change('PATCH', `/${PROJECT}/branches/${id}`, { branch: { protected: true } });
    await ui().run('Refresh');
    await ui().computes.contextMenu(`Branch work, protected, ${id}, production`, 'Undo…');
    await until('the snapshot', async () =>
      (await ui().quickInput.waitFor(QUESTION)).items.some((item) => item.startsWith(title)),
    );
    await ui().quickInput.answer(QUESTION, title);
    await ui().quickInput.answer('This is production', 'work');
    const { message } = await ui().notifications.waitFor(title);
    assert.match(message, /\)\. Its previous data is kept as work \(old\)\./);
    await waitForRows(rows);
    await ui().notifications.press(title, 'Undo the Undo');
    await ui().quickInput.answer('This is production', 'work');
    await waitForRows(0);
    const branches = await branchCalls(service).branches(PROJECT);
    for (const kept of ['work', 'work (old)'])
      assert.equal(branches.find(({ name }) => name === kept)?.protected, true, kept);
    const current = branches.find(({ name }) => name === 'work')?.id;
    await branchCalls(service).change('PATCH', `/${PROJECT}/branches/${current}`, {
      branch: { protected: false },
    });
    await ui().run('Refresh');
  });

  it('creates a branch from a snapshot, which is renamed and deleted in the list', async () => {
    const find = async (name: string) =>
      (await branchCalls(service).branches(PROJECT)).find((branch) => branch.name === name)?.id ?? '';
    const work = `Branch work, ${await find('work')}`;
    const press = (item: string, button: string) => ui().quickInput.pressItemButton(QUESTION, item, button);
    await ui().computes.contextMenu(work, 'Undo…');
    await press('Snapshot “before the clean-up”', 'Rename Snapshot…');
    await ui().quickInput.answer('Name of the snapshot', 'kept');
    await until('the new name', async () =>
      (await ui().quickInput.waitFor(QUESTION)).items.some((item) => item.startsWith('Snapshot “kept”')),
    );
    await ui().quickInput.cancel(QUESTION);
    await ui().computes.contextMenu(work, 'Data and History', 'Create Branch from a Time…');
    await ui().quickInput.choose(moment, 'Snapshot “kept”');
    await ui().quickInput.answer('Name of the new branch of work', 'look');
    await ui().quickInput.accept('Select or type when the branch is deleted');
    let compute = '';
    await until('the branch with its compute', async () => {
      const { endpoints } = await branchCalls(service).send('GET', `/${PROJECT}/endpoints`);
      const id = await find('look');
      compute = endpoints.find(({ branch_id }) => branch_id === id)?.id ?? '';
      return compute !== '';
    });
    const look = await branchApi(() => service, await find('look')).uri();
    assert.deepEqual(await query(look, 'select count(*)::int from users'), [rowsOfSnapshot]);
    await ui().computes.waitUntilSelected(new RegExp(compute));
    await ui().computes.contextMenu(work, 'Undo…');
    await press('Snapshot “kept”', 'Delete Snapshot…');
    assert.equal((await ui().dialog.read()).message, 'Delete the snapshot kept of work (shop)?');
    await ui().dialog.press('Delete');
    await until('the list without it', async () => {
      const shown = await ui().quickInput.read();
      return (shown?.items.length ?? 0) > 0 && !shown?.items.some((item) => item.startsWith('Snapshot'));
    });
    const list = await branchCalls(service).send<{ snapshots: unknown[] }>('GET', `/${PROJECT}/snapshots`);
    assert.deepEqual(list.snapshots, []);
    await ui().quickInput.cancel(QUESTION);
  });
});
