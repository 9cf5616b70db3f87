/** What the extension itself asks a database whose `search_path` begins with operators of a stranger. */
import assert from 'node:assert/strict';
import { runSql } from '../../../../../src/extension/agents/runSql.ts';
import { readSessions } from '../../../../../src/extension/computes/readSessions.ts';
import { readAppliedMigrations } from '../../../../../src/extension/database/sql/appliedMigrations.ts';
import { compareRows } from '../../../../../src/extension/database/rows/compareRows.ts';
import { listTables } from '../../../../../src/extension/database/rows/readCatalog.ts';
import { peekRows } from '../../../../../src/extension/database/rows/readRows.ts';
import { parseRowSource } from '../../../../../src/extension/database/rows/statements.ts';
import type { BranchLogin } from '../../../../../src/extension/connection/sqlSession.ts';
import { SHADOWED_OPERATORS } from '../../../../helpers/shadowedOperators.ts';
import { query, runStatements } from '../../../service/postgres/clients.ts';
import { useBranch } from '../../../service/postgres/useBranch.ts';

const never = new AbortController().signal;
const PATH = 'trap, shop, pg_catalog';

describe('The search path of the statements of the extension', () => {
  const branch = useBranch();
  let login: BranchLogin;
  before(async () => {
    const { host, username: role, password } = new URL(branch.uri);
    login = { host, role, password, database: 'app' };
    const tables = `create schema shop; create table shop.products (id int primary key, name text);
      insert into shop.products select n, repeat('x', 100) from generate_series(1, 40000) n; analyze shop.products;
      create table shop.knex_migrations (id serial primary key, name varchar(255), batch int, migration_time timestamptz)`;
    await runStatements(branch.uri, tables, SHADOWED_OPERATORS);
    await assert.rejects(query(branch.uri, 'select 1 = 1'), /a stranger's operator = ran/);
  });

  const run = async (sql: string, write = false) =>
    (await runSql(login, { sql, write, maxRows: 10 }, never)).rows;

  it('lets an agent run a statement without operators', async () => {
    assert.deepEqual(await run('select 1'), [['1']]);
    assert.deepEqual(await run("select name is null, 'a'::varchar(3) from shop.products limit 1"), [
      ['f', 'a'],
    ]);
    assert.deepEqual(await run('select 1', true), [['1']]);
  });

  it("resolves the names of an agent's statement as the database is set", async () => {
    assert.deepEqual(await run('show search_path'), [[PATH]]);
    assert.deepEqual(await run('show search_path', true), [[PATH]]);
    assert.deepEqual(await run('select count(*) from products'), [['40000']]);
    await assert.rejects(run('select 1 = 1'), /a stranger's operator = ran/);
  });

  it('lists the tables and peeks at one', async () => {
    assert.ok((await listTables(login, never)).some(({ name }) => name === 'products'));
    assert.equal((await peekRows(login, 'SELECT * FROM "shop"."products"', never)).rows.length, 200);
    assert.deepEqual((await peekRows(login, 'show search_path', never)).rows, [[PATH]]);
  });

  it('compares a table with itself, by ranges and by rows', async () => {
    for (const name of ['products', '"shop"."products"', 'select id, name from products']) {
      const { added, deleted } = await compareRows(
        { before: login, after: login },
        parseRowSource(name),
        never,
      );
      assert.deepEqual([added, deleted], [0, 0], name);
    }
    const changing = 'select id, pg_catalog.concat(name, pg_catalog.gen_random_uuid()) as name from products';
    assert.equal(
      (await compareRows({ before: login, after: login }, parseRowSource(changing), never)).added,
      40000,
    );
  });

  it('reads sessions and applied migrations', async () => {
    await readSessions(login, never);
    assert.deepEqual((await readAppliedMigrations(login, never))?.[0]?.rows, []);
  });
});
