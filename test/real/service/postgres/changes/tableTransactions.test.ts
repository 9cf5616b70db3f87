/** Which transactions have changed a table, from the write-ahead log. */
import assert from 'node:assert/strict';
import type { TableFile } from '../../../../../src/service/core/branchHistory.ts';
import { query, runStatements } from '../clients.ts';
import { keepHistory } from '../keepHistory.ts';
import { useBranch } from '../useBranch.ts';

const ID = 'br-commits';

describe('The transactions that have changed a table', () => {
  // What autovacuum commits by itself, such as new statistics, is a change of other tables.
  const branch = useBranch({ branchId: ID, pgSettings: { autovacuum: 'off' } });
  let branches = 0;

  before(async () => {
    await query(branch.uri, 'create table orders (id int)');
    await keepHistory(branch.service, ID);
  });
  beforeEach(async () => run('drop table if exists notes', 'create table notes (name text)'));

  const run = (...statements: readonly string[]) => runStatements(branch.uri, ...statements);
  const file = async (): Promise<TableFile> => {
    const [database, table, number] = await query(
      branch.uri,
      `select d.oid::int, t.oid::int, pg_relation_filenode(t.oid)::int from pg_class t, pg_database d
      where t.oid = 'notes'::regclass and datname = current_database()`,
    );
    return { database: Number(database), table: Number(table), file: Number(number) };
  };
  const commits = async () => branch.service.engine.tableTransactions(ID, await file());
  const counts = async () =>
    (await commits())?.map(({ added, changed, deleted }) => [added, changed, deleted]);
  /** Whether the table `later` was there at the moment before the last of them, and what the table of notes had. */
  const pastOfLast = async () => {
    const { before = '' } = (await commits())?.at(-1) ?? {};
    const id = `br-past-${(branches += 1)}`;
    await branch.service.engine.createBranch({ id, parentId: ID, moment: { timestamp: before } });
    const past = await branch.service.uri(
      await branch.service.create({ id: `ep-past-${branches}`, branchId: id }),
    );
    return await query(
      past,
      "select to_regclass('later')::text, (select string_agg(name, ' ' order by name) from notes)",
    );
  };

  it('have the numbers that rows name, also those of their subtransactions', async () => {
    await run(
      "insert into notes values ('a')",
      'begin',
      "insert into notes values ('b')",
      'savepoint one',
      "insert into notes values ('c')",
      'rollback to one',
      "insert into notes values ('d')",
      'commit',
      'begin',
      "insert into notes values ('e')",
      'rollback',
      'insert into orders values (1)',
      "update notes set name = 'A' where name = 'a'",
      "delete from notes where name = 'A'",
    );
    assert.deepEqual(await counts(), [
      [1, 0, 0],
      [2, 0, 0],
      [0, 1, 0],
      [0, 0, 1],
    ]);
    const ids = await query(branch.uri, 'select xmin::text::int from notes order by name');
    assert.deepEqual((await commits())?.[1]?.ids, ids);
  });

  it('each have the moment before them', async () => {
    await run("insert into notes values ('a')", 'create table later ()', "insert into notes values ('b')");
    assert.deepEqual(await pastOfLast(), ['later', 'a']);
    await run('begin', 'drop table later', "insert into notes values ('c')", 'commit');
    assert.deepEqual(await pastOfLast(), ['later', 'a b']);
    await run("insert into notes values ('d')");
    assert.deepEqual(await pastOfLast(), [null, 'a b c']);
  });

  it('are late if they have changed nothing else, but others have since the one before', async () => {
    const isLate = async (...statements: readonly string[]) => {
      await run(...statements, "insert into notes values ('a')");
      return (await commits())?.at(-1)?.late;
    };
    // Here, it is not known what was changed before.
    assert.equal(await isLate(), true);
    assert.equal(await isLate(), false);
    for (const statement of [
      'create table other (id int)',
      'create index concurrently on orders (id)',
      'insert into orders values (1)',
      "create type state as enum ('open')",
      "alter type state add value 'paid'",
      "create function one() returns int language sql as 'select 1'",
      'comment on table orders is $$all$$',
      'truncate orders',
      'create sequence number',
      "select setval('number', 7)",
      'drop table other',
    ]) {
      assert.equal(await isLate(statement), true, statement);
      assert.equal(await isLate(), false);
    }
    await run('begin', 'insert into orders values (1)', "insert into notes values ('a')", 'commit');
    assert.equal((await commits())?.at(-1)?.late, false);
    assert.equal(await isLate('begin', 'insert into orders values (1)', 'rollback'), false);
    assert.equal(await isLate('select count(*) from orders'), false);
  });

  it('are those since it had its rows', async () => {
    await run("insert into notes values ('a')", 'truncate notes', "insert into notes values ('b')");
    assert.deepEqual(await counts(), [[1, 0, 0]]);
    await run(
      'begin',
      'drop table notes',
      'create table notes (name text)',
      "insert into notes values ('a'), ('b')",
      'commit',
    );
    assert.deepEqual(await counts(), []);
    await run("insert into notes values ('c')", 'vacuum full notes', "insert into notes values ('d')");
    assert.deepEqual(await counts(), [[1, 0, 0]]);
  });

  it('are not known while the branch is idle, or of another table', async () => {
    await run("insert into notes values ('a')");
    const found = await file();
    assert.equal(
      await branch.service.engine.tableTransactions(ID, { ...found, file: found.file + 1 }),
      undefined,
    );
    assert.equal(await branch.service.engine.tableTransactions(ID, { ...found, database: 1 }), undefined);
    await branch.service.engine.suspend(branch.compute.id);
    assert.equal(await branch.service.engine.tableTransactions(ID, found), undefined);
    assert.deepEqual(await counts(), [[1, 0, 0]]);
  });
});
