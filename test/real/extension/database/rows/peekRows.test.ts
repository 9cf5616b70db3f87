/**
 * Rows as the user peeks at them, on a real server: what must not happen, and what hostile tables do.
 * Timers: extension/database/rows/readRows.ts.
 */
import assert from 'node:assert/strict';
import type { BranchLogin } from '../../../../../src/extension/connection/sqlSession.ts';
import { SqlError } from '../../../../../src/extension/window/sqlError.ts';
import { tableLines } from '../../../../../src/extension/database/rows/formatRows.ts';
import {
  listTables,
  readColumns,
  readObjects,
} from '../../../../../src/extension/database/rows/readCatalog.ts';
import { peekRows } from '../../../../../src/extension/database/rows/readRows.ts';
import { NotOneQueryError } from '../../../../../src/extension/database/rows/statements.ts';
import { ALLOWED, HOSTILE, SETUP, STATE } from '../../../../helpers/hostileSql.ts';
import { connectTo, query } from '../../../service/postgres/clients.ts';
import { useBranch } from '../../../service/postgres/useBranch.ts';
import { readerOf } from '../sql/readerOf.ts';
import type pg from 'pg';

const never = new AbortController().signal;

describe('peekRows', () => {
  const branch = useBranch();
  let login: BranchLogin;
  let user: pg.Client | undefined;
  before(async () => {
    login = await readerOf(branch.service, branch.compute);
    user = await connectTo(branch.uri, { application_name: 'the user' });
    await user.query(SETUP);
  });

  const peek = (sql: string, signal = never) => peekRows(login, sql, signal);
  const text = async (sql: string) => {
    const table = await peek(sql);
    return tableLines(table, table.maxValue);
  };

  for (const [what, statements] of Object.entries(HOSTILE))
    it(`changes nothing by ${what}`, async () => {
      const before = await query(branch.uri, STATE);
      for (const sql of statements) {
        await assert.rejects(peek(sql), Error, sql);
        await assert.rejects(peek(`select 1) as "peeked rows"; ${sql}; select * from (select 1`), Error, sql);
      }
      assert.deepEqual(await query(branch.uri, STATE), before);
    });

  it('rolls back what Postgres allows in a read-only transaction', async () => {
    const before = await query(branch.uri, STATE);
    for (const sql of ALLOWED) await peek(sql).catch(() => undefined);
    assert.deepEqual(await query(branch.uri, STATE), before);
  });

  it('shows two hundred rows in aligned columns, and says that there are more', async () => {
    assert.deepEqual(await text('select * from shop.products order by id; -- all'), [
      'id │ name │ price',
      '───┼──────┼──────',
      ' 1 │ tea  │  2.50',
      ' 2 │ cup  │  7.00',
    ]);
    const { rows, hasMore } = await peek('select * from generate_series(1, 201)');
    assert.deepEqual([rows.length, hasMore], [200, true]);
    assert.equal((await peek('select * from generate_series(1, 200)')).hasMore, false);
  });

  it('reads what is no SELECT as it is', async () => {
    assert.deepEqual((await peek('show statement_timeout')).rows, [['15s']]);
    assert.match(String((await peek('explain select 1')).rows[0]), /^Result/);
    assert.deepEqual((await peek('table shop.products')).rows.length, 2);
    assert.deepEqual((await peek('values (1, null), (2, null)')).rows, [
      ['1', null],
      ['2', null],
    ]);
    assert.deepEqual((await peek('select pg_sleep(0)')).rows, [['']]);
    assert.deepEqual((await peek('(select 1 as a, 2 as a)')).columns, ['a', 'a']);
    assert.deepEqual((await peek('select from shop.products')).columns, []);
  });

  it('rejects what is no query, or several', async () => {
    for (const sql of ['', '-- nothing', 'select 1; select 2', 'set search_path = shop', 'select \0'])
      await assert.rejects(peek(sql), /NotOneQuery/, sql);
    await assert.rejects(peek('select 1; select 2'), NotOneQueryError);
  });

  it('names the state of a failure, and no value in its summary', async () => {
    await assert.rejects(peek("select 'secret'::int"), (error: unknown) => {
      assert.ok(error instanceof SqlError);
      assert.match(error.message, /secret/);
      assert.equal(error.summary, 'the statement failed: 22P02');
      return true;
    });
  });

  it('has values of 100 MB cut by the server', async () => {
    await user?.query(`create table shop.large (id int primary key, words text, bytes bytea, list text[], j jsonb);
      insert into shop.large select n, repeat('ab', 50000000), convert_to(repeat('c', 100000000), 'UTF8'),
        array[repeat('d', 10000000)], to_jsonb(repeat('e', 10000000)) from generate_series(1, 2) as n`);
    const before = process.memoryUsage();
    const { rows } = await peek('select * from shop.large');
    const after = process.memoryUsage();
    assert.deepEqual(
      rows[0]?.map((value) => value?.length),
      [1, 121, 122, 121, 121],
    );
    assert.ok(after.rss - before.rss < 50_000_000, `${after.rss - before.rss} more bytes`);
  });

  it('ends a view that never ends, and reads the first rows of an endless one', async function () {
    await user?.query(`
      create view shop.endless as with recursive n(i) as (select 1 union all select i + 1 from n) select * from n;
      create view shop.never as select * from shop.endless where i < 0`);
    assert.equal((await peek('select * from shop.endless')).hasMore, true);
    const controller = new AbortController();
    const stopped = peek('select * from shop.never', controller.signal);
    const isRunning = async () =>
      (
        await query(
          branch.uri,
          "select count(*)::int from pg_stat_activity where query ~ 'peeked' and state = 'active' and pid <> pg_backend_pid()",
        )
      )[0];
    while ((await isRunning()) === 0);
    controller.abort();
    await assert.rejects(stopped, /Canceled/);
    assert.equal(await isRunning(), 0);
  });

  it('shows odd names and values so that nothing is mistaken for something else', async () => {
    const lines = await text(
      String.raw`select null as "[link](command:x)", 'NULL' as "a${'\u202e'}b", '' as "│",
      ' x' as "quote ""s""", E'two\nlines\t' as "; drop table x --", U&'\202Eevil' as "$(trash)", '漢字' as wide, 1 as "number"`.replace(
        "U&'\\202Eevil'",
        "'\u202eevil'",
      ),
    );
    assert.equal(lines.length, 3);
    assert.match(lines[0] ?? '', /^\[link\]\(command:x\) │ a‹U\+202E›b │ '│' │ quote "s" +│/);
    assert.match(lines[2] ?? '', /^NULL +│ 'NULL' +│ ''  │ ' x' +│ two␊lines␉ +│ ‹U\+202E›evil │ 漢字 │ +1$/);
  });

  it('has at most a hundred columns', async () => {
    const all = Array.from({ length: 1600 }, (_, index) => `${index} as c${index}`).join(', ');
    const { columns, columnsLeftOut } = await peek(`select ${all}`);
    assert.deepEqual([columns.length, columnsLeftOut], [100, 1500]);
  });

  it('reads databases in other encodings, and bytes that are no text', async () => {
    const admin = await connectTo(branch.uri);
    try {
      await admin.query("create database latin encoding 'LATIN1' locale 'C' template template0");
      await admin.query("create database bytes encoding 'SQL_ASCII' locale 'C' template template0");
    } catch (error) {
      // Only some roles may.
      assert.match(String(error), /permission denied/);
      return;
    } finally {
      await admin.end();
    }
    const at = async (database: string, sql: string) =>
      (await peekRows({ ...login, database }, sql, never)).rows;
    assert.deepEqual(await at('latin', "select 'ü', repeat('ü', 200)"), [['ü', 'ü'.repeat(121)]]);
    const odd = await at('bytes', String.raw`select E'\xff\xfe', repeat(E'\xc3\xbc', 200)`);
    assert.deepEqual(odd[0]?.[0], '\ufffd\ufffd');
  });

  it('lists tables and views, those of public first', async () => {
    await user?.query('create table public.orders (id int)');
    const tables = (await listTables(login, never)).map(({ schema, name }) => `${schema}.${name}`);
    assert.equal(tables[0], 'public.orders');
    assert.ok(tables.includes('shop.products') && tables.includes('shop.labels'));
    assert.ok(tables.every((name) => !/^(pg_|information)/.test(name)));
  });

  it('lists functions without those of extensions, and the columns of a table', async () => {
    await user?.query(
      `create extension if not exists pg_trgm;
       create table "Odd" (id int, at timestamptz not null, price numeric(8,2)[], gone int, primary key (id));
       alter table "Odd" drop column gone;
       create function odd(a int, b text default 'x') returns setof text language sql as 'select b';
       create procedure tidy() language sql as ''`,
    );
    const { tables, functions } = await readObjects(login, never);
    assert.deepEqual(tables, await listTables(login, never));
    const names = functions.filter(({ schema }) => schema === 'public');
    assert.deepEqual(
      names.filter(({ name }) => ['odd', 'tidy', 'similarity'].includes(name)),
      [
        { schema: 'public', name: 'odd', parameters: 'a integer, b text', result: 'SETOF text' },
        { schema: 'public', name: 'tidy', parameters: '', result: null },
      ],
    );
    const odd = { schema: 'public', name: 'Odd', isView: false };
    assert.deepEqual(await readColumns(login, odd, never), [
      { name: 'id', type: 'integer', isNullable: false, isKey: true },
      { name: 'at', type: 'timestamp with time zone', isNullable: false, isKey: false },
      { name: 'price', type: 'numeric(8,2)[]', isNullable: true, isKey: false },
    ]);
    assert.deepEqual(await readColumns(login, { ...odd, name: 'gone' }, never), []);
  });

  it('calls a column not null only if none of its rows can be null', async () => {
    await user?.query('create table later (n int, m int not null)');
    await user?.query('alter table later add constraint n_is_set not null n not valid');
    const later = { schema: 'public', name: 'later', isView: false };
    const nullable = async () => (await readColumns(login, later, never)).map(({ isNullable }) => isNullable);
    assert.deepEqual(await nullable(), [true, false]);
    await user?.query('alter table later validate constraint n_is_set');
    assert.deepEqual(await nullable(), [false, false]);
  });
});
