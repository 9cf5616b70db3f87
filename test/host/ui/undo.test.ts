import assert from 'node:assert/strict';
import { branchCalls } from '../../helpers/branchCalls.ts';
import { startLocalService, type LocalService } from '../../helpers/localService.ts';
import { branchApi, BRANCH as parent, PROJECT } from '../../service/catalog/branchApi.ts';
import { query } from '../../service/postgres/clients.ts';
import { until } from '../../workbench/until.ts';
import { connect } from './connect.ts';
import { useWorkbench } from './useWorkbench.ts';

const QUESTION = 'What work goes back to';

describe('Undo…', () => {
  const ui = useWorkbench();
  let service: LocalService;
  let row: string;
  /** The connection string, which stays the same. */
  let uri: string;

  before(async () => {
    service = await startLocalService();
    const branch = { name: 'work', parent_id: parent };
    const endpoints = [{ type: 'read_write' }];
    const { id } = (await branchCalls(service).change('POST', `/${PROJECT}/branches`, { branch, endpoints }))
      .branch;
    row = `Branch ${id}, work`;
    uri = await branchApi(() => service, id).uri();
    await query(uri, 'create table users (id int primary key, email text)');
    await query(uri, `insert into users select id, id || '@example.com' from generate_series(1, 3) as id`);
    const schemaNow = () => `/schema?db_name=app&timestamp=${new Date().toISOString()}`;
    await until(
      'the history',
      async () => (await branchApi(() => service, id).get(schemaNow())).status === 200,
    );
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
  const waitForColumns = (expected: string) =>
    until(`the columns ${expected}`, async () => (await columns())[0] === expected);
  const names = async () => (await branchCalls(service).branches(PROJECT)).map(({ name }) => name);

  it('brings back a dropped column with its data under the same connection string', async () => {
    const before = new Date().toISOString();
    await query(uri, 'alter table users drop column email');
    await ui().computes.contextMenu(row, 'Undo…');
    await until('the moments', async () =>
      (await ui().quickInput.waitFor(QUESTION)).items.some((item) => item.startsWith('Enter a time…')),
    );
    await ui().quickInput.answer(QUESTION, before);
    await ui().notifications.waitFor(/^work: .* Its data from before is kept as before-undo-/);
    await waitForColumns('id email');
    assert.deepEqual(await query(uri, 'select email from users order by id'), [
      '1@example.com',
      '2@example.com',
      '3@example.com',
    ]);
    assert.ok((await names()).some((name) => name.startsWith('before-undo-')));
  });

  it('is undone by the action of its message, and by what it offers first', async () => {
    await ui().computes.contextMenu(row, 'Undo…');
    await until('the first moment', async () =>
      (await ui().quickInput.waitFor(QUESTION)).items[0]?.startsWith('Undo the undo of '),
    );
    await ui().quickInput.accept(QUESTION);
    await ui().notifications.waitFor(/^work: Undo the undo of/);
    await waitForColumns('id');
    await ui().notifications.press('work: Undo the undo of', 'Undo');
    await waitForColumns('id email');
    assert.equal((await names()).filter((name) => name.startsWith('before-undo-')).length, 3);
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
    const shown = ui().page.locator('.tabs-container .tab.active');
    const waitForTitle = (title: RegExp) =>
      until(String(title), async () => title.test((await shown.getAttribute('aria-label')) ?? ''));
    const moment = 'Which data of work. Select a moment, or type a time';
    await ui().computes.contextMenu(row, 'Data and History', 'Compare Schema with a Time…');
    await ui().quickInput.answer(moment, past);
    await waitForTitle(/^app: work · .* ↔ work \(1 added\)/);
  });
});
