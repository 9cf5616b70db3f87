/** What differs between two databases, against a comparison in memory, with random changes. */
import assert from 'node:assert/strict';
import type pg from 'pg';
import type { BranchLogin } from '../../../../../src/extension/connection/sqlSession.ts';
import { compareRows, NoTableError } from '../../../../../src/extension/database/rows/compareRows.ts';
import type { DifferingRow } from '../../../../../src/extension/database/rows/findDifferingRows.ts';
import { parseRowSource } from '../../../../../src/extension/database/rows/statements.ts';
import { ALLOWED, HOSTILE, SETUP, STATE } from '../../../../helpers/hostileSql.ts';
import { randomNumbers } from '../../../../helpers/randomNumbers.ts';
import { RANDOM_SEED } from '../../../../helpers/seed.ts';
import { connectTo, eventually, query } from '../../../service/postgres/clients.ts';
import { useBranch } from '../../../service/postgres/useBranch.ts';
import { readerOf } from '../sql/readerOf.ts';

const never = new AbortController().signal;

/** Columns whose values are random, and NULL at times. */
const COLUMNS: Readonly<Record<string, (random: () => number) => string>> = {
  words: (random) => `'${['', 'NULL', 'tea', "it''s", '🐘', ' x', 'a\nb', '\u202e'][at(random, 8)] ?? ''}'`,
  amount: (random) => `${['1.0', '1.00', '1', '-0.5', "'NaN'"][at(random, 5)] ?? ''}::numeric`,
  data: (random) => `'{"a": ${at(random, 4)}, "b": [null, ${at(random, 3)}]}'::jsonb`,
  raw: (random) => `'{"a":${' '.repeat(at(random, 3))}1}'::json`,
  list: (random) => `array[${at(random, 3)}, null, ${at(random, 3)}]::int[]`,
  bytes: (random) => String.raw`'\x00${'ff'.repeat(at(random, 4))}'::bytea`,
  time: (random) => `'2026-01-02 03:04:0${at(random, 10)}+02'::timestamptz`,
  size: (random) => `${random()}::float8`,
  long: (random) => `repeat('x', 4000) || ${at(random, 3)}`,
};
/** For each kind of key: how it is written, and a new one. */
const KEYS: Readonly<
  Record<string, { readonly columns: string; readonly key: string; readonly value: (id: number) => string }>
> = {
  'one key': { columns: 'id int primary key', key: 'id', value: (id) => String(id) },
  'a composite key': {
    columns: 'day date, id text collate "C", primary key (id, day)',
    key: 'day, id',
    value: (id) => `date '2026-01-01' + ${id % 7}, 'k${id}'`,
  },
  'no key': { columns: 'id int', key: 'id', value: (id) => String(id % 5) },
};

const at = (random: () => number, below: number): number => Math.floor(random() * below);

describe('compareRows', () => {
  const branch = useBranch();
  let sides: { before: pg.Client; after: pg.Client };
  let logins: { before: BranchLogin; after: BranchLogin };
  before(async () => {
    await query(branch.uri, 'create database other');
    logins = {
      before: await readerOf(branch.service, branch.compute),
      after: await readerOf(branch.service, branch.compute, 'other'),
    };
    sides = {
      before: await connectTo(branch.uri, { application_name: 'the user' }),
      after: await connectTo(branch.uri.replace(/app$/, 'other')),
    };
  });

  const execute = async (sql: string) => {
    await sides.before.query(sql);
    await sides.after.query(sql);
  };
  const compareTable = (table: string, signal = never) =>
    compareRows(logins, { table, sql: `SELECT * FROM ${table}`, name: table }, signal);
  const compareQuery = (sql: string) => compareRows(logins, { sql, name: 'query' }, never);

  for (const [name, { columns, key, value }] of Object.entries(KEYS))
    for (const seed of [RANDOM_SEED, RANDOM_SEED + 1])
      it(`finds a hundred random changes with ${name} (seed ${seed})`, async () => {
        const random = randomNumbers(seed);
        const table = `random_${seed}_${name.replaceAll(' ', '_')}`;
        const row = () =>
          Object.values(COLUMNS)
            .map((make) => (random() < 0.1 ? 'null' : make(random)))
            .join(', ');
        await execute(`create table ${table} (${columns}, words text, amount numeric, data jsonb, raw json, list int[],
          bytes bytea, time timestamptz, size float8, long text)`);
        const rows = Array.from({ length: 300 }, (_, id) => `(${value(id)}, ${row()})`);
        await execute(`insert into ${table} values ${rows.join(', ')}`);
        for (let change = 0; change < 100; change += 1) {
          const id = at(random, 300);
          const where = `where (${key}) = (${value(id)}) and ctid = (select min(ctid) from ${table} where (${key}) = (${value(id)}))`;
          const [column = '', make = () => ''] = Object.entries(COLUMNS)[at(random, 9)] ?? [];
          const sql = [
            `delete from ${table} ${where}`,
            `update ${table} set ${column} = ${random() < 0.1 ? 'null' : make(random)} ${where}`,
            `insert into ${table} values (${value(300 + change)}, ${row()})`,
          ][at(random, 3)];
          await sides.after.query(sql ?? '');
        }
        const expected = await expectedDifference(sides, table, name === 'no key' ? 'random()' : key);
        for (const found of [
          await compareTable(table),
          ...(name === 'no key' ? [await compareQuery(`table ${table}`)] : []),
        ]) {
          assert.deepEqual(
            { added: found.added, changed: found.changed, deleted: found.deleted },
            { added: expected.added, changed: expected.changed, deleted: expected.deleted },
          );
          assert.deepEqual(idsOf(found.before).toSorted(), expected.before.toSorted());
          assert.deepEqual(idsOf(found.after).toSorted(), expected.after.toSorted());
        }
      });

  it('reads only the ranges of a large table that differ, and orders rows by the key', async () => {
    await execute(`create table large (id int primary key, text text);
      insert into large select n, repeat(md5(n::text), 30) from generate_series(1, 8000) n`);
    assert.deepEqual(await counts(compareTable('large')), [0, 0, 0]);
    await sides.after.query(`update large set text = 'x' where id in (9, 10, 700);
      delete from large where id = 100; insert into large values (9000, ''), (10000, null)`);
    const found = await compareTable('large');
    assert.deepEqual([found.added, found.changed, found.deleted], [2, 3, 1]);
    assert.deepEqual(
      found.before.map(({ kind, cells }) => `${kind} ${cells[0]}`),
      ['changed 9', 'changed 10', 'deleted 100', 'changed 700'],
    );
    assert.deepEqual(
      found.after.map(({ kind, cells }) => `${kind} ${cells[0]}`),
      ['changed 9', 'changed 10', 'changed 700', 'added 9000', 'added 10000'],
    );
    assert.match(String(found.before[0]?.cells[1]), /^[\da-f]{120}… 960 #[\da-f]+$/);
  });

  it('compares the columns that both sides have, by their names', async () => {
    await execute(
      'create table columns (id int primary key, a text); insert into columns values (1, null), (2, null)',
    );
    await sides.after.query(`alter table columns drop column a; alter table columns add "B" int;
      alter table columns add a text; update columns set a = 'new' where id = 1`);
    const found = await compareTable('columns');
    assert.deepEqual([found.columns, found.onlyBefore, found.onlyAfter], [['id', 'a'], [], ['B']]);
    assert.deepEqual([found.added, found.changed, found.deleted], [0, 1, 0]);
    await sides.before.query('alter table columns drop constraint columns_pkey');
    assert.deepEqual(await counts(compareTable('columns')), [1, 0, 1]);
  });

  it('compares a table whose name is also that of a function', async () => {
    await execute('create table "user" (id int)');
    await sides.after.query('insert into "user" values (1)');
    assert.deepEqual(await counts(compareRows(logins, parseRowSource('user'), never)), [1, 0, 0]);
  });

  it('shows as many rows as an editor can, and counts all', async () => {
    await execute('create table many (id int primary key, text text)');
    await sides.after.query('insert into many select n from generate_series(1, 30000) n');
    const found = await compareTable('many');
    assert.deepEqual([found.added, found.after.length, found.hasMore], [30_000, 20_000, true]);
    await sides.after.query('alter table many drop id; update many set text = null');
    const same = await compareTable('many');
    assert.deepEqual([same.added, same.after.length, same.hasMore], [30_000, 20_000, true]);
  });

  it('does not depend on settings of one database', async () => {
    await execute(`create schema other_path; create table other_path.links (id int primary key, link regclass, price money);
      insert into other_path.links values (1, 'other_path.links', 1)`);
    const { rows } = await sides.after.query('select current_database() as name');
    for (const setting of ['search_path = other_path', 'quote_all_identifiers = on'])
      await sides.after.query(`alter database ${rows[0]?.name} set ${setting}`);
    try {
      assert.deepEqual(await counts(compareTable('other_path.links')), [0, 0, 0]);
      assert.deepEqual(
        await counts(compareQuery('select *, current_setting($$search_path$$) from links')),
        [0, 0, 0],
      );
    } finally {
      await sides.after.query(`alter database ${rows[0]?.name} reset all`);
    }
  });

  it('says that there are no columns, or none in common', async () => {
    await execute('create table empty ()');
    await assert.rejects(compareTable('empty'), /There are no columns to compare/);
    await sides.after.query('alter table empty add id int');
    await assert.rejects(compareTable('empty'), /have no column in common/);
  });

  it('says on which side a table is missing, and what Postgres says', async () => {
    await sides.after.query('create table only_after (id int)');
    await assert.rejects(
      compareTable('only_after'),
      (error) => error instanceof NoTableError && error.side === 'before',
    );
    await assert.rejects(compareQuery('select * from only_after'), /does not exist \(42P01[^(]*\)$/);
    await assert.rejects(compareQuery('select 1; select 2'), /NotOneQuery/);
  });

  it('changes nothing on either side', async () => {
    await sides.before.query(SETUP);
    await sides.after.query(SETUP);
    const before = await sides.before.query(STATE);
    for (const statements of Object.values(HOSTILE))
      for (const sql of statements) await assert.rejects(compareQuery(sql), Error, sql);
    for (const sql of ALLOWED) await compareQuery(sql).catch(() => undefined);
    assert.deepEqual((await sides.before.query(STATE)).rows, before.rows);
  });

  it('is canceled on both servers', async () => {
    const controller = new AbortController();
    const stopped = assert.rejects(
      compareRows(logins, { sql: 'select pg_sleep(100)', name: 'sleep' }, controller.signal),
      { message: 'Canceled.' },
    );
    const running = async () =>
      (
        await sides.before.query(
          "select count(*)::int as n from pg_stat_activity where state = 'active' and query ~ 'pg_sleep' and pid <> pg_backend_pid()",
        )
      ).rows[0]?.n;
    while ((await running()) < 2);
    controller.abort();
    await stopped;
    // The second server may get the request to cancel later than the first one answers.
    await eventually(async () => (await running()) === 0);
  });
});

const counts = async (comparison: ReturnType<typeof compareRows>): Promise<number[]> => {
  const { added, changed, deleted } = await comparison;
  return [added, changed, deleted];
};

/** Rows without the hash of long values. */
const idsOf = (rows: readonly DifferingRow[]): string[] =>
  rows.map(({ cells }) => JSON.stringify(cells.slice(0, -1)));

/** Compares by reading both tables as a whole. */
async function expectedDifference(
  sides: { before: pg.Client; after: pg.Client },
  table: string,
  key: string,
) {
  const read = async (client: pg.Client) => {
    await client.query("set timezone = 'UTC'");
    const cells = (await columnsOf(client, table)).map((name) => `${name}::text`).join(', ');
    const sql = `select (${key})::text as key, t::text as row, array[${cells}] as cells from ${table} t`;
    return (await client.query<{ key: string; row: string; cells: string[] }>(sql)).rows;
  };
  const [before, after] = [await read(sides.before), await read(sides.after)];
  const [left, right] = [remove(before, after), remove(after, before)];
  const common = left.filter((row) => right.some((other) => other.key === row.key)).length;
  const shown = (rows: typeof left) => rows.map(({ cells }) => JSON.stringify(cells.slice(0, -1)));
  return {
    added: right.length - common,
    changed: common,
    deleted: left.length - common,
    before: shown(left),
    after: shown(right),
  };
}

async function columnsOf(client: pg.Client, table: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select quote_ident(attname) as name from pg_attribute where attrelid = '${table}'::regclass and attnum > 0 and not attisdropped order by attnum`,
  );
  return rows.map(({ name }) => name);
}

/** The rows that are left of a multiset without another one. */
function remove<T extends { readonly row: string }>(rows: readonly T[], others: readonly T[]): T[] {
  const left = new Map<string, number>();
  for (const { row } of others) left.set(row, (left.get(row) ?? 0) + 1);
  return rows.filter(({ row }) => {
    const count = left.get(row) ?? 0;
    left.set(row, count - 1);
    return count <= 0;
  });
}
