/**
 * The locks that a rehearsal sees, beside those that an observer inside the same transaction sees on another branch: also after
 * milliseconds. Timers: service/postgres/rehearsal/commitHold.ts, service/postgres/rehearsal/rehearsalObserver.ts.
 */
import assert from 'node:assert/strict';
import type pg from 'pg';
import type { HeldLock } from '../../../../../src/api/records/rehearsal.ts';
import { connectTo, runStatements } from '../clients.ts';
import { startControlPlane, superuserUri, type ControlPlane } from '../controlPlane.ts';

const SCHEMA = [
  'create table parent (id int primary key, name text)',
  'create table child (id int primary key, parent int references parent, note varchar(50), v int, at timestamp)',
  'create index child_note on child (note)',
  'create schema other',
  'create table plain (id int, v text)',
  'create table parts (id int, v int) partition by range (id)',
  'create table parts_1 partition of parts for values from (0) to (100)',
  'create table part_2 (id int, v int)',
  'create materialized view totals as select count(*) as n from parent',
  'create unique index totals_n on totals (n)',
  'create view names as select name from parent',
  'create sequence numbers',
  `create function changed() returns trigger language plpgsql as 'begin return new; end'`,
  'create trigger changed before update on child for each row execute function changed()',
  'create policy own on plain using (true)',
  'alter table child add constraint positive check (v > 0) not valid',
  `insert into parent select g, 'name' || g from generate_series(1, 1000) g`,
  'insert into child select g, g, g, g, now() from generate_series(1, 1000) g',
];

/** Each also runs by itself, without a transaction. */
const STATEMENTS = [
  'alter table plain add column c int',
  'alter table plain add column c int default 1',
  'alter table plain add column c timestamptz default clock_timestamp()',
  'alter table child drop column note',
  'alter table child alter column note type text',
  'alter table child alter column v type bigint',
  'alter table child alter column v set not null',
  'alter table child alter column v set default 1',
  'alter table child alter column v set statistics 10',
  'alter table child rename column v to w',
  'alter table child rename to children',
  'alter table child set schema other',
  'alter table child validate constraint positive',
  'alter table child drop constraint child_parent_fkey',
  'alter table child add foreign key (v) references parent not valid',
  'alter table child add foreign key (v) references parent',
  'alter table child add check (id > 0)',
  'alter table child add check (id > 0) not valid',
  'alter table child add unique (v)',
  'alter table child disable trigger changed',
  'alter table child enable always trigger changed',
  'alter table child cluster on child_pkey',
  'alter table child set (fillfactor = 80)',
  'alter table child replica identity full',
  'alter table child set unlogged',
  'alter table plain enable row level security',
  'alter table parts attach partition part_2 for values from (100) to (200)',
  'alter table parts detach partition parts_1',
  'create table parts_3 partition of parts for values from (200) to (300)',
  'create table copy (like child including all)',
  'create table grandchild (id int references child)',
  'create index on child (v)',
  'create unique index on child (v)',
  'create index on parts (v)',
  'create trigger other before insert on child for each row execute function changed()',
  'drop trigger changed on child',
  'create rule nothing as on delete to child do instead nothing',
  'create policy other on plain using (true)',
  'alter policy own on plain using (false)',
  'drop policy own on plain',
  `comment on table child is 'text'`,
  'create view more as select * from child',
  'create or replace view names as select name, id from parent',
  'drop view names',
  'refresh materialized view totals',
  'drop index child_note',
  'alter index child_note rename to other_note',
  'reindex index child_note',
  'reindex table child',
  'truncate child',
  'truncate parent cascade',
  'drop table child',
  'drop table parts_1',
  'drop table parent cascade',
  'cluster child using child_pkey',
  'analyze child',
  'lock table child in access exclusive mode',
  'alter sequence numbers restart',
  'create statistics pair on v, note from child',
  'update child set v = v + 1',
  'delete from child where id < 10',
  'grant select on child to public',
] as const;

/** They don't run in a transaction. What they lock last is in the manual, with each command. */
const ALONE = [
  ['create index concurrently on child (v)', ['public.child ShareUpdateExclusiveLock']],
  ['drop index concurrently child_note', ['public.child ShareUpdateExclusiveLock']],
  ['reindex table concurrently child', ['public.child ShareUpdateExclusiveLock']],
  ['refresh materialized view concurrently totals', ['public.totals ExclusiveLock']],
  ['alter table parts detach partition parts_1 concurrently', ['public.parts ShareUpdateExclusiveLock']],
  ['vacuum full child', ['public.child AccessExclusiveLock']],
] as const;

/** Names as before, because the statement may have changed them. */
const NAMES = `
select c.oid::int as id, concat_ws(' ', n.nspname || '.' || coalesce(t.relname, c.relname), case when t.oid is not null then c.relname end) as name
from pg_class c join pg_namespace n on n.oid = c.relnamespace
left join pg_index i on i.indexrelid = c.oid left join pg_class t on t.oid = i.indrelid
where c.oid >= 16384 and n.nspname <> 'pg_toast'`;

const OWN_LOCKS = `select relation::int as id, mode from pg_locks
where pid = pg_backend_pid() and locktype = 'relation' and granted and relation = any($1)`;

describe('A rehearsal', () => {
  let plane: ControlPlane;
  let rehearsed: string;
  let truth: pg.Client;
  let superuser: pg.Client;
  /** What was there before; others can't wait for what is new. */
  let known: ReadonlyMap<number, string>;

  before(async () => {
    plane = await startControlPlane();
    const [first, second] = [await plane.create(), await plane.create({ branchId: 'br-truth' })];
    rehearsed = await plane.uri(first);
    await runStatements(superuserUri(plane, rehearsed), 'create database pattern owner app_owner');
    for (const uri of [rehearsed, rehearsed.replace(/app$/, 'pattern'), await plane.uri(second)])
      await runStatements(uri, ...SCHEMA);
    truth = await connectTo(await plane.uri(second));
    const { rows } = await truth.query<{ id: number; name: string }>(NAMES);
    known = new Map(rows.map(({ id, name }) => [id, name]));
    await plane.engine.startRehearsal(first.branchId, first.id);
    superuser = await connectTo(superuserUri(plane, rehearsed).replace(/app$/, 'postgres'));
  });
  after(() => plane.close());

  const seen = async (from: number): Promise<(HeldLock & { readonly shown: string })[]> => {
    const { locks } = await plane.engine.rehearsal('br-main');
    return locks
      .filter(({ statement }) => statement >= from)
      .map((lock) => ({ ...lock, shown: [lock.table, lock.index, lock.mode].filter(Boolean).join(' ') }));
  };
  const assertSeen = async (from: number, expected: readonly string[]) => {
    const locks = await seen(from);
    const end = Math.max(...locks.map(({ to }) => to));
    // A sample also sees those that a statement releases at its own end, such as of an index that it copies.
    const names = locks
      .filter(({ shown, to }) => expected.includes(shown) || to === end)
      .map(({ shown }) => shown);
    assert.deepEqual([...new Set(names)].toSorted(), expected);
  };
  const count = async () => (await plane.engine.rehearsal('br-main')).statements.length;
  const inside = async (sql: string) => {
    await truth.query('begin');
    try {
      await truth.query(sql);
      const { rows } = await truth.query<{ id: number; mode: string }>(OWN_LOCKS, [[...known.keys()]]);
      return rows.map(({ id, mode }) => `${known.get(id)} ${mode}`).toSorted();
    } finally {
      await truth.query('rollback');
    }
  };

  for (const sql of STATEMENTS)
    it(`sees all locks of: ${sql}`, async () => {
      const expected = await inside(sql);
      const client = await connectTo(rehearsed);
      const from = await count();
      await client.query('begin');
      await client.query(sql);
      await client.query('rollback');
      await assertSeen(from, expected);
    });

  for (const [index, sql] of STATEMENTS.entries()) {
    // Postgres refuses it without a transaction, in which alone it has a use.
    if (sql.startsWith('lock')) continue;
    it(`sees them without a transaction, which releases them at once: ${sql}`, async () => {
      const name = `copy_${index}`;
      await superuser.query(`create database ${name} template pattern owner app_owner`);
      const client = await connectTo(rehearsed.replace(/app$/, name));
      const from = await count();
      await client.query(sql);
      await assertSeen(from, await inside(sql));
      await client.end();
      await superuser.query(`drop database ${name}`);
    });
  }

  for (const [sql, expected] of ALONE)
    it(`sees the locks of a statement that can't run in a transaction: ${sql}`, async () => {
      const client = await connectTo(rehearsed);
      const from = await count();
      await client.query(sql);
      const names = (await seen(from)).map(({ shown }) => shown);
      for (const lock of expected) assert.ok(names.includes(lock), names.join(', '));
    });

  it('sees them also after the server has read its settings again', async () => {
    // The service makes it do so when it starts to keep history.
    await superuser.query('select pg_reload_conf()');
    const sql = 'alter table plain add column more int';
    const client = await connectTo(rehearsed);
    const from = await count();
    // New sessions have read them.
    await client.query(sql);
    await assertSeen(from, await inside(sql));
  });
});
