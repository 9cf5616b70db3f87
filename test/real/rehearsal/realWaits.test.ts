/** Clients that really wait for a migration on a copy, compared with those whom its rehearsal names. */
import assert from 'node:assert/strict';
import pg from 'pg';
import { limitConcurrency } from '../../../src/base/limitConcurrency.ts';
import { until } from '../../workbench/until.ts';
import { connectTo, runStatements } from '../service/postgres/clients.ts';
import { migrate, startRehearsals, type Rehearsals } from './rehearsals.ts';

const SCHEMA = [
  'create table customers (id int primary key, name text)',
  'create table orders (id int primary key, customer int, total int)',
  `insert into customers select g, 'name' from generate_series(1, 20) g`,
  'insert into orders select g, g, g from generate_series(1, 20) g',
  'alter table orders add constraint positive check (total > 0) not valid',
  `create function changed() returns trigger language plpgsql as 'begin return new; end'`,
];

/** Each begins a transaction, which stays open. */
const MIGRATIONS = [
  'alter table orders add column note text',
  'alter table orders add foreign key (customer) references customers',
  'create index on orders (total)',
  'alter table orders validate constraint positive',
  'create trigger changed before update on customers for each row execute function changed()',
  'update orders set total = total + 1',
  'update customers set name = upper(name) where id = 7; update orders set total = 1 where id = 9',
  'delete from orders',
  'do $$ begin update customers set name = lower(name); end $$',
  'insert into orders values (100, 1, 1)',
  'insert into orders select 100 + g, g, g from generate_series(1, 20) g; update orders set total = 2 where id > 100',
  'analyze orders',
  'lock table customers in exclusive mode',
  'drop table customers',
];

/** What clients do with each table: one reads, one adds a row, and one changes each row in turn. */
const CLIENTS = ['customers', 'orders'].flatMap((table) => [
  { table, does: 'reads', sql: [`select count(*) from ${table}`] },
  { table, does: 'adds', sql: [`insert into ${table} (id) values (1000)`] },
  {
    table,
    does: 'changes',
    sql: Array.from({ length: 20 }, (_, id) => `update ${table} set id = id where id = ${id + 1}`),
  },
]);

describe('Clients that wait for a migration', () => {
  let rehearsals: Rehearsals;

  before(async () => {
    rehearsals = await startRehearsals();
    await runStatements(rehearsals.url, ...SCHEMA);
  });

  /** Whom the rehearsal names. The pause makes it count rows. */
  async function named(sql: string): Promise<string[]> {
    const statements = ['begin', sql, 'select pg_sleep(0.15)', 'commit'];
    const { blocked } = await rehearsals.rehearse(async ({ url }) => migrate(url, statements));
    const all = blocked.flatMap(({ table, blocks, rows }) => {
      if (blocks === 'reads') return ['reads', 'adds', 'changes'].map((does) => `${table} ${does}`);
      if (blocks !== 'writes') return [];
      return rows === undefined ? [`${table} adds`, `${table} changes`] : [`${table} changes ${rows}`];
    });
    return [...new Set(all)].toSorted();
  }

  /** Who really waits while the transaction is open. */
  async function waiting(sql: string): Promise<string[]> {
    const { url } = await rehearsals.copy();
    const [migration, observer] = [await connectTo(url), await connectTo(url)];
    const oneAtATime = limitConcurrency(1);
    const observe = async (text: string, values: unknown[]) =>
      oneAtATime(async () => observer.query(text, values));
    await migration.query('begin');
    await migration.query(sql);
    const waits = await Promise.all(
      CLIENTS.map(async (client) => ({ ...client, count: await count(client.sql) })),
    );
    await migration.query('rollback');
    return waits
      .filter((each) => each.count > 0)
      .map(({ table, does, sql: all, count: rows }) =>
        [`public.${table}`, does, ...(all.length > 1 && rows < all.length ? [rows] : [])].join(' '),
      )
      .toSorted();

    /** @returns how many of the statements wait */
    async function count(statements: readonly string[]): Promise<number> {
      const results = statements.map(async (each) => isWaiting(each));
      return (await Promise.all(results)).filter(Boolean).length;
    }

    async function isWaiting(each: string): Promise<boolean> {
      const client = new pg.Client(url);
      client.on('error', () => undefined);
      await client.connect();
      await client.query('begin');
      const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
      let isDone = false;
      let isBlocked = false;
      const done = client.query(each).then(
        () => (isDone = true),
        () => undefined,
      );
      await until('the statement ends or waits', async () => {
        const blocked = await observe(
          'select from pg_stat_activity where pid = $1 and wait_event_type = $2',
          [rows[0]?.pid, 'Lock'],
        );
        isBlocked = blocked.rows.length > 0;
        return isDone || isBlocked;
      });
      await observe('select pg_terminate_backend($1)', [rows[0]?.pid]);
      await done;
      await client.end().catch(() => undefined);
      return !isDone;
    }
  }

  for (const sql of MIGRATIONS)
    it(`are those that its rehearsal names: ${sql}`, async () => {
      const [real, said] = [await waiting(sql), await named(sql)];
      assert.deepEqual(allRows(said), allRows(real));
    });
});

/** All 20 rows are all that a client changes. */
const allRows = (clients: readonly string[]): string[] => clients.map((each) => each.replace(/ 20$/, ''));
