/** Compares tables whose columns or keys differ between the sides. */
import assert from 'node:assert/strict';
import type pg from 'pg';
import type { BranchLogin } from '../../../../../src/extension/connection/sqlSession.ts';
import { compareRows } from '../../../../../src/extension/database/rows/compareRows.ts';
import { connectTo, query } from '../../../service/postgres/clients.ts';
import { useBranch } from '../../../service/postgres/useBranch.ts';

const never = new AbortController().signal;

describe('compareRows of tables that differ', () => {
  const branch = useBranch();
  let sides: { before: pg.Client; after: pg.Client };
  let logins: { before: BranchLogin; after: BranchLogin };
  before(async () => {
    await query(branch.uri, 'create database other');
    const { host, username: role, password } = new URL(branch.uri);
    const login = (database: string): BranchLogin => ({ host, role, password, database });
    logins = { before: login('app'), after: login('other') };
    sides = {
      before: await connectTo(branch.uri),
      after: await connectTo(branch.uri.replace(/app$/, 'other')),
    };
  });

  const compareTable = (table: string) =>
    compareRows(logins, { table, sql: `SELECT * FROM ${table}`, name: table }, never);
  const compareQuery = (sql: string) => compareRows(logins, { sql, name: 'query' }, never);

  it('finds the same row by a key whose columns have another order on the other side', async () => {
    await sides.before.query('create table turned (a int, b int, c text, primary key (a, b))');
    await sides.after.query('create table turned (c text, b int, a int, primary key (b, a))');
    for (const client of Object.values(sides))
      await client.query("insert into turned (a, b, c) values (1, 2, 'x'), (2, 1, 'y'), (3, 3, 'z')");
    assert.deepEqual(await counts(compareTable('turned')), [0, 0, 0]);
    await sides.after.query("update turned set c = 'new' where a = 2");
    const found = await compareTable('turned');
    assert.deepEqual([found.added, found.changed, found.deleted], [0, 1, 0]);
    assert.deepEqual(
      found.key.map((place) => found.columns[place]),
      ['b', 'a'],
    );
    assert.deepEqual(
      found.after.map(({ cells }) => cells),
      [['new', '1', '2']],
    );
  });

  for (const [before, after, same, other] of [
    ['text', 'bytea', String.raw`\x616263`, String.raw`\x64`],
    ['bytea', 'varchar', String.raw`\x${'00ff'.repeat(200)}`, String.raw`\x`],
    ['text', 'bool', 'true', 'false'],
    ['char(9)', 'text', 'tea', 'coffee'],
    ['inet', 'text', '10.0.0.1/32', '10.0.0.2/32'],
    ['int', 'numeric', '7', '8'],
  ] as const)
    it(`compares a column that was ${before} and is ${after}, by what it shows`, async () => {
      const table = `converted_${before.slice(0, 4)}_${after}`;
      for (const [client, type] of [
        [sides.before, before],
        [sides.after, after],
      ] as const) {
        await client.query(`create table ${table} (id int, value ${type} primary key, name text)`);
        await client.query(`insert into ${table} values (1, '${same}', 'x'), (2, '${other}', 'y')`);
      }
      assert.deepEqual(await counts(compareTable(table)), [0, 0, 0]);
      await sides.after.query(`update ${table} set name = 'z' where id = 1`);
      const found = await compareTable(table);
      assert.deepEqual([found.added, found.changed, found.deleted], [0, 1, 0]);
      assert.equal(found.before[0]?.cells[1], found.after[0]?.cells[1]);
      assert.deepEqual(await counts(compareQuery(`select value from ${table}`)), [0, 0, 0]);
      await sides.after.query(`delete from ${table} where id = 2`);
      assert.deepEqual(await counts(compareQuery(`select value from ${table}`)), [0, 0, 1]);
    });
});

const counts = async (comparison: ReturnType<typeof compareRows>): Promise<number[]> => {
  const { added, changed, deleted } = await comparison;
  return [added, changed, deleted];
};
