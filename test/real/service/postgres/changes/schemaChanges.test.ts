/** When the schema was changed, from the write-ahead log: no matter which program has done it. */
import assert from 'node:assert/strict';
import { query, runStatements } from '../clients.ts';
import { startControlPlane, type ControlPlane } from '../controlPlane.ts';
import { keepHistory } from '../keepHistory.ts';

const NONE = { created: 0, altered: 0, dropped: 0, truncated: 0, migrations: 0, before: '', lsn: '' };

describe('The changes of the schema of a branch', () => {
  let service: ControlPlane;
  let id: string;
  let uri: string;
  let branches = 0;

  before(async () => {
    service = await startControlPlane();
  });
  beforeEach(async () => {
    id = `br-schema-${(branches += 1)}`;
    await service.engine.createBranch({ id, keepsHistory: true });
    uri = await service.uri(await service.create({ id: `ep-schema-${branches}`, branchId: id }));
    await beginHistory();
  });
  /** Begins a history with a copy of the data as it is now, and without older ones if they aren't kept for so long. */
  const beginHistory = (seconds?: number) => keepHistory(service, id, seconds);

  const run = (...statements: readonly string[]) => runStatements(uri, ...statements);
  const counts = async () =>
    (await service.engine.schemaChanges(id)).map((each) => ({ ...each, before: '', lsn: '' }));
  /** What a query returns at the moment before the last change. */
  const past = async (sql: string) => {
    const { lsn = '' } = (await service.engine.schemaChanges(id)).at(-1) ?? {};
    const other = `${id}-past`;
    await service.engine.createBranch({ id: other, parentId: id, moment: { lsn } });
    const compute = await service.create({ id: `ep-past-${branches}`, branchId: other });
    return await query(await service.uri(compute), sql);
  };

  it('have the moment just before the first of a series, and count tables', async () => {
    assert.deepEqual(await counts(), []);
    await run(
      'begin',
      'create table a (id int primary key)',
      'insert into a values (1)',
      'create table b (id serial)',
      'commit',
      'insert into a values (2)',
      'alter table a add column name text',
      'create table c ()',
      'drop table c',
      'create index on b (id)',
    );
    assert.deepEqual(await counts(), [{ ...NONE, created: 2 }]);
    assert.deepEqual(await past("select to_regclass('a')::text, to_regclass('b')::text"), [null, null]);
  });

  for (const sql of [
    'create type state as enum ()',
    'create view seen as select 1 as one',
    "create function one() returns int language sql as 'select 1'",
    'create schema other',
    'create sequence numbers',
    'create domain positive as int check (value > 0)',
    'begin; create temp table scratch (id int primary key); create type state as enum (); create table a (); commit',
  ])
    it(`are also: ${sql}`, async () => {
      await run(sql);
      assert.deepEqual(await counts(), [{ ...NONE, created: sql.includes('create table') ? 1 : 0 }]);
    });

  it('are no changes of rows, statistics, temporary tables or files', async () => {
    await run('create table a (id int primary key)', 'create materialized view m as select * from a');
    await beginHistory(0.001);
    await run(
      'insert into a select generate_series(1, 1000)',
      'analyze',
      'create temp table scratch (id serial primary key, name text)',
      'alter table scratch add column more text',
      'create index on scratch (name)',
      'drop table scratch',
      'begin',
      'create temp table other (id int) on commit drop',
      'insert into other values (1)',
      'insert into a values (0)',
      'commit',
      'vacuum a',
      'vacuum full a',
      'refresh materialized view m',
      'select lo_create(0)',
    );
    assert.deepEqual(await counts(), []);
    await run('create table b ()');
    assert.deepEqual(await counts(), [{ ...NONE, created: 1 }]);
  });

  it('count tables that were altered, dropped and truncated, and databases', async () => {
    await run('create table a (id int)', 'create table b (id int)', 'create table c (id int)');
    await beginHistory(0.001);
    await run('alter table a rename to d', 'drop table b', 'truncate c', 'create database other');
    assert.deepEqual(await counts(), [{ ...NONE, created: 1, altered: 1, dropped: 1, truncated: 1 }]);
  });

  it('are also migrations that a tool has noted, and change only rows', async () => {
    await run(
      'create table a (id int)',
      'create table my_migrations (id serial, name varchar, batch int, migration_time timestamptz)',
      'begin',
      'insert into a values (1)',
      "insert into my_migrations (name) values ('1_rows.js')",
      'commit',
    );
    assert.deepEqual(await counts(), [{ ...NONE, created: 2, migrations: 1 }]);
    assert.deepEqual(await past("select to_regclass('a')::text"), [null]);
    await beginHistory(0.001);
    await run("insert into my_migrations (name) values ('2_rows.js')");
    assert.deepEqual(await counts(), [{ ...NONE, migrations: 1 }]);
  });

  it('are also deletions of many rows, with those that follow closely', async () => {
    await run(
      'create table a (id int primary key, text text)',
      'create table b (id int references a on delete cascade)',
      // These values have rows of their own.
      'alter table a alter text set storage external',
      'insert into a select id, repeat(md5(id::text), 100) from generate_series(1, 100) as id',
      'insert into b select generate_series(1, 100)',
      'create materialized view m as select * from a',
      'create unique index on m (id)',
    );
    await beginHistory(0.001);
    const deletions = ['id > 90', 'id = 1', 'id between 2 and 20', 'id in (21, 22)', 'id = 23'];
    for (const where of deletions)
      await run(`delete from a where ${where}`, 'refresh materialized view concurrently m');
    assert.deepEqual(await counts(), [{ ...NONE, deleted: 66, tables: 2 }]);
    assert.deepEqual(await past('select count(*)::int from a'), [100]);
  });

  it('have deletions in their order, also between changes of the schema, and of a table that was replaced', async () => {
    await run('create table a (id int)', 'insert into a select generate_series(1, 9)');
    await beginHistory(0.001);
    await run(
      'delete from a where id < 6',
      'alter table a alter id type bigint',
      'delete from a where id < 9',
      'alter table a add column name text',
    );
    assert.deepEqual(await counts(), [
      { ...NONE, deleted: 5, tables: 1 },
      { ...NONE, altered: 1 },
      { ...NONE, deleted: 3, tables: 1 },
    ]);
    assert.deepEqual(await past('select count(*)::int from a'), [4]);
  });

  it('are one with the deletion that their first transaction has made', async () => {
    await run('create table a (id int)', 'insert into a select generate_series(1, 9)');
    await beginHistory(0.001);
    await run('begin', 'delete from a', 'alter table a add column name text', 'commit');
    assert.deepEqual(await counts(), [{ ...NONE, altered: 1 }]);
    assert.deepEqual(await past('select count(*)::int from a'), [9]);
  });

  it('are not rows of a table that only looks like that of a tool, unless with a change of the schema', async () => {
    await run(
      'create table job_runs (id serial, name varchar, executed_at timestamptz)',
      'create table a (id int)',
      'insert into a select generate_series(1, 9)',
    );
    await beginHistory(0.001);
    const note = "insert into job_runs (name) values ('nightly')";
    await run(note, 'delete from a where id > 4', note);
    assert.deepEqual(await counts(), [{ ...NONE, deleted: 5, tables: 1 }]);
    await run(note, 'begin', 'create table b ()', note, 'commit', note);
    assert.deepEqual(await counts(), [
      { ...NONE, deleted: 5, tables: 1 },
      { ...NONE, created: 1, migrations: 1 },
    ]);
    assert.deepEqual(await past('select count(*)::int from job_runs'), [3]);
  });

  it('are not known while the branch is idle', async () => {
    await run('create table a ()');
    await service.engine.suspend(`ep-schema-${branches}`);
    assert.deepEqual(await counts(), []);
  });
});
