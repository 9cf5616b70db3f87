/** `db.reset()`: random tests write to a database of which a template has the data. */
import assert from 'node:assert/strict';
import type pg from 'pg';
import { withDatabase } from '../../../../src/api/addresses/databaseUrl.ts';
import { saveBeginning } from '../../../../src/npm/library/beginning.ts';
import { copyDatabase } from '../../../../src/npm/library/copyDatabase.ts';
import { DatabaseReset, type ResetObstacle, type WithAdmin } from '../../../../src/npm/library/reset.ts';
import { roundsOf } from '../../../helpers/fullRun.ts';
import { randomNumbers } from '../../../helpers/randomNumbers.ts';
import { until } from '../../../workbench/until.ts';
import { connectTo } from '../../service/postgres/clients.ts';
import { startControlPlane, type ControlPlane } from '../../service/postgres/controlPlane.ts';
import { contents, SCHEMA, SEED } from './resetShop.ts';

const DDL = /^its objects, settings or rights have changed \(/;
const MATERIALIZED = /^the rows of public\.totals can't be replaced: it is a materialized view$/;
const RULES = /^the rows of public\."none" can't be replaced: it has rules$/;
const NOT_VALID = /^new row for relation "legacy" violates check constraint "positive"$/;
/** What a test does, and the reason if only a new database helps. */
const WRITES: readonly (readonly [sql: (n: number) => string, reason?: RegExp])[] = [
  [(n) => `insert into public.customer (name) values ('new ${n}')`],
  [(n) => `update public.customer set name = name || '${n}' where id = ${1 + (n % 20)}`],
  [(n) => `delete from public.customer where id = ${1 + (n % 20)}`],
  [() => 'truncate public.customer cascade'],
  [() => 'truncate public.audit restart identity'],
  [(n) => `insert into sales.purchase (amount, total) values (${n}, 1)`],
  [(n) => `update sales.purchase set amount = ${n} where id % 2 = 0`],
  [() => 'delete from sales.purchase where boss is not null'],
  [() => 'begin; update public.a set b = 1; insert into public.a values (3, 1); commit'],
  [() => 'begin; insert into public.team values (2, 3); insert into public.member values (3, 2); commit'],
  [(n) => `insert into public.event values (${5000 + n}, 'click', 1), (${5000 + n}, 'view', 2)`],
  [() => "update public.event set kind = 'click' where kind <> 'click' and id > 500"],
  [() => 'delete from only public.parent'],
  [() => 'update public.parent set n = 9'],
  [() => 'update "Odd ""name"""."a table, (1)" set "b,c" = null'],
  [() => 'insert into "Odd ""name"""."a table, (1)" default values'],
  [() => "insert into public.cache values ('new', 'v')"],
  [() => 'truncate public.cache'],
  [() => "update public.hiding set t = 'new'"],
  [() => 'delete from public.hiding_more'],
  [() => "select nextval('public.counter')"],
  [() => "select setval('public.counter', 4711, false)"],
  [() => "begin; insert into public.customer (name) values ('undone'); rollback"],
  [
    () =>
      'begin; savepoint s; delete from public.audit; rollback to s; delete from public.audit where id = 1; commit',
  ],
  [
    () =>
      'create temporary table t (a serial primary key, b int references t) on commit preserve rows; insert into t values (1, 1)',
  ],
  [() => 'vacuum analyze public.customer'],
  [() => 'vacuum freeze sales.purchase'],
  [() => 'cluster public.a using a_pkey', DDL],
  [() => 'reindex table public.event'],
  [() => 'refresh materialized view public.totals', MATERIALIZED],
  [() => 'refresh materialized view public.unfilled', DDL],
  [() => 'insert into public.none default values', RULES],
  [() => 'insert into public.bare default values'],
  [() => 'delete from public.computed'],
  [() => "set shop.is_admin = 'yes'; delete from public.hidden where n = 1"],
  [() => 'update public.legacy set n = 2 where n > 0', NOT_VALID],
  [() => "select nextval('public.cached')"],
  [() => "select setval('public.cached', 1)"],
  [() => 'insert into public.ticket (at) values (3)'],
  [() => 'alter table public.customer add column more int', DDL],
  [() => 'create table public.more (n int)', DDL],
  [() => 'drop table public.audit cascade', DDL],
  [() => 'drop view public.names', DDL],
  [() => 'create or replace view public.names as select name from public.customer where false', DDL],
  [
    () =>
      "create or replace function public.note() returns trigger language plpgsql as 'begin return null; end'",
    DDL,
  ],
  [() => 'alter table public.customer disable trigger noted', DDL],
  [() => "alter type public.mood add value 'mad'", DDL],
  [() => 'create index on public.audit (what)', DDL],
  [() => 'alter sequence public.counter increment 5', DDL],
  [() => 'grant select on public.customer to public', DDL],
  [() => "comment on table public.customer is 'x'", DDL],
  [() => 'alter table public.event detach partition public.event_click', DDL],
  [() => 'alter table public.a drop constraint a_b_fkey', DDL],
  [() => 'drop schema public cascade', DDL],
  [() => 'alter table public.customer enable row level security', DDL],
  [() => 'create schema extra; create extension citext schema extra', DDL],
  [() => "select lo_from_bytea(0, 'x')", DDL],
];

/** @param reasons any of them, or undefined if the database wasn't created again */
function assertReason(
  obstacle: ResetObstacle | undefined,
  reasons: readonly RegExp[] | undefined,
  message?: string,
) {
  const isExpected =
    obstacle === undefined
      ? reasons === undefined
      : reasons?.some((each) => each.test(obstacle.reason)) === true;
  assert.ok(isExpected, `${obstacle?.reason}; ${message ?? ''}`);
}

describe('db.reset()', () => {
  let service: ControlPlane;
  let url: string;
  let reset: DatabaseReset;
  let expected: string;
  let client: pg.Client;
  let admin: pg.Client;
  const withAdmin: WithAdmin = async (work) => work(admin);
  const at = async (database: string) => connectTo(withDatabase(url, database));
  before(async () => {
    service = await startControlPlane();
    url = withDatabase(await service.uri(await service.create()), 'shop');
    admin = await at('postgres');
    await admin.query('create database shop');
    const seed = await at('shop');
    await seed.query("set timezone = 'Europe/Berlin'; set datestyle = 'SQL, DMY'");
    await seed.query(SCHEMA);
    for (const part of SEED.split(/;\n(?=  )/)) await seed.query(part);
    await seed.end();
    await admin.query("alter database shop set datestyle = 'SQL, DMY'");
    await admin.query('alter database shop set search_path = public, "Odd ""name""", sales');
    await copyDatabase(admin, 'shop', 'shop_template');
    await saveBeginning(admin, url, 'shop_template');
    reset = new DatabaseReset(url, 'shop_template', 'hosted_postgres_reset');
    client = await at('shop');
    expected = await contents(client);
  });
  after(() => reset?.close());
  /** After a database is created again, its connections have ended. */
  const open = async () => {
    await client.end().catch(() => undefined);
    client = await at('shop');
    client.on('error', () => undefined);
  };
  beforeEach(open);

  it('does nothing if nothing was written', async () => {
    assert.equal(await reset.run(withAdmin), undefined);
    assert.equal(await contents(client), expected);
  });

  for (const [sql, reason] of WRITES)
    it(`undoes: ${sql(3)}`, async () => {
      await client.query(sql(3));
      await client.query('discard temp');
      assertReason(await reset.run(withAdmin), reason && [reason]);
      if (reason !== undefined) await open();
      assert.equal(await contents(client), expected);
    });

  it(`is exact after random tests`, async () => {
    const random = randomNumbers();
    const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] ?? assert.fail();
    for (let round = 0; round < roundsOf(30, 200); round += 1) {
      const statements: string[] = [];
      const reasons: RegExp[] = [];
      for (let count = 1 + Math.floor(random() * 6); count > 0; count -= 1) {
        // Most tests have no DDL.
        const [sql, reason] = pick(WRITES.filter(([, each]) => each === undefined || random() < 0.02));
        const text = sql(Math.floor(random() * 1000));
        statements.push(text);
        // Some fail, as they do in tests.
        const worked = await client.query(text).then(
          () => true,
          async () => client.query('rollback').then(() => false),
        );
        if (worked && reason !== undefined) reasons.push(reason);
      }
      const obstacle = await reset.run(withAdmin);
      if (obstacle !== undefined) await open();
      assertReason(obstacle, reasons.length === 0 ? undefined : reasons, statements.join(';\n'));
      assert.equal(await contents(client), expected, statements.join(';\n'));
    }
  });

  it('sets sequences back for sessions that have cached values', async () => {
    const [one, two] = [await at('shop'), await at('shop')];
    const values = async () => {
      const found: unknown[] = [];
      for (const each of [one, one, two, two])
        found.push(
          ...(await each.query("select nextval('public.cached'), nextval('public.ticket_id_seq')")).rows,
        );
      return found;
    };
    const first = await values();
    for (const between of [
      'select 1',
      "select setval('public.cached', 10), setval('public.ticket_id_seq', 5)",
    ]) {
      await client.query(between);
      assert.equal(await reset.run(withAdmin), undefined);
      assert.deepEqual(await values(), first, between);
    }
    assert.equal(await reset.run(withAdmin), undefined);
    assert.equal(await contents(client), expected);
    await Promise.all([one.end(), two.end()]);
  });

  it('rejects a transaction that is open, and a statement that runs', async () => {
    await client.query("begin; insert into public.audit (what) values ('open')");
    await assert.rejects(
      reset.run(withAdmin),
      /A transaction is open\. End it and await all statements before reset\. Open:\n.*insert into public\.audit/s,
    );
    await client.query('commit');
    assert.equal(await reset.run(withAdmin), undefined);
    assert.equal(await contents(client), expected);
  });

  it('rejects a statement that has written and still runs, although other sessions see no rows of it yet', async () => {
    const other = await at('shop');
    // It waits for a lock after its first row.
    await client.query('select pg_advisory_lock(1)');
    const running = other.query(
      "with a as (insert into public.audit (what) values ('late') returning id) select pg_advisory_lock(id - id + 1) from a",
    );
    await until('the statement waits', async () => {
      const { rowCount } = await client.query('select from pg_locks where not granted');
      return rowCount === 1;
    });
    await assert.rejects(reset.run(withAdmin), /A transaction is open.*active, with a as \(insert/s);
    await client.query('select pg_advisory_unlock(1)');
    await running;
    await other.end();
    assert.equal(await reset.run(withAdmin), undefined);
    assert.equal(await contents(client), expected);
  });

  it('keeps the database if the template is in use, and creates it if it is missing', async () => {
    const inTemplate = await at('shop_template');
    await client.query('create table public.more (n int)');
    await assert.rejects(reset.run(withAdmin), /"shop_template" is being accessed/);
    await client.query('select from public.more');
    await inTemplate.end();
    assertReason(await reset.run(withAdmin), [DDL]);
    await admin.query('drop database shop with (force)');
    assertReason(await reset.run(withAdmin), [/^it was dropped$/]);
    await open();
    const { rows } = await client.query('select count(*)::int as count from public.customer');
    assert.deepEqual(rows, [{ count: 20 }]);
  });
});
