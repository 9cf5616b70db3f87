/** What has changed, where the log says it in an unusual way, or only part of it. */
import assert from 'node:assert/strict';
import { complete, entryOf, type Expected } from './changeCases.ts';
import { connectTo, query, runStatements } from '../clients.ts';
import { superuserUri } from '../controlPlane.ts';
import { keepHistory, serverTime } from '../keepHistory.ts';
import { createSlot } from '../replication/replicate.ts';
import { useBranch } from '../useBranch.ts';

const ID = 'br-exact';

/** Statements before the moment, those after it, and what these have changed. */
const CASES: readonly (readonly [
  what: string,
  before: string,
  after: readonly string[],
  expected: readonly Expected[],
])[] = [
  [
    'a truncation after rows of a released savepoint',
    'create table a (id int)',
    [
      'begin; savepoint s; insert into a values (1), (2); release s; truncate a; insert into a values (3); commit',
    ],
    [{ name: 'a', change: 'truncated', added: 1 }],
  ],
  [
    'a truncation after rows of a block with an exception handler',
    'create table b (id int)',
    [
      `do $$ begin begin insert into b values (1); exception when others then null; end; execute 'truncate b';
        insert into b values (2), (3); end $$`,
    ],
    [{ name: 'b', change: 'truncated', added: 2 }],
  ],
  [
    'a truncation that is rolled back to a savepoint',
    'create table c (id int)',
    [
      'begin; insert into c values (1); savepoint s; truncate c; insert into c values (2); rollback to s; commit',
    ],
    [{ name: 'c', added: 1 }],
  ],
  [
    'a truncation after a rewrite',
    'create table d (id int)',
    [
      'insert into d values (1), (2)',
      'alter table d alter column id type bigint',
      'insert into d values (3)',
      'truncate d',
      'insert into d values (4)',
    ],
    [{ name: 'd', change: 'truncated', added: 1 }],
  ],
  [
    'a truncation in the transaction of a rewrite',
    'create table q (id int)',
    [
      'insert into q values (1)',
      'begin; insert into q values (2); alter table q alter column id type bigint; truncate q; insert into q values (3); commit',
    ],
    [{ name: 'q', change: 'truncated', added: 1 }],
  ],
  [
    'an older table that gets the name of a dropped one',
    'create table e (id int); create table f as select 1 as id',
    ['drop table e', 'alter table f rename to e', 'insert into e values (2)'],
    [{ name: 'e', change: 'replaced' }],
  ],
  [
    'a table that is renamed, replaced and dropped',
    'create table g (id int)',
    [
      'create table g_new (id int)',
      'alter table g rename to g_old',
      'alter table g_new rename to g',
      'drop table g_old',
    ],
    [{ name: 'g', change: 'replaced' }],
  ],
  [
    'a table that is renamed and renamed back',
    'create table h (id int)',
    ['alter table h rename to h_old', 'alter table h_old rename to h', 'insert into h values (1)'],
    [{ name: 'h', added: 1 }],
  ],
  [
    'a schema that is renamed',
    'create schema north; create table north.i (id int); create table north.j (id int)',
    ['alter schema north rename to south', 'insert into south.i values (1)', 'drop table south.j'],
    [
      { schema: 'north', name: 'j', change: 'dropped' },
      { schema: 'south', name: 'i', change: 'altered', added: 1 },
    ],
  ],
  [
    'a schema that is dropped with its tables',
    'create schema west; create table west.k (id int)',
    ['drop schema west cascade'],
    [{ schema: 'west', name: 'k', change: 'dropped' }],
  ],
  [
    'a table that gets its content while it is unlogged',
    'create table l (id int)',
    [
      'alter table l set unlogged',
      'insert into l values (1), (2)',
      'alter table l set logged',
      'insert into l values (3)',
    ],
    [{ name: 'l', change: 'altered' }],
  ],
  [
    'VACUUM FULL and CLUSTER after ADD COLUMN with a default',
    `create table m (id int primary key); insert into m values (1); alter table m add n int default 7;
      create table o (id int primary key); insert into o values (1); alter table o add n int default 7`,
    ['vacuum full m', 'cluster o using o_pkey'],
    [],
  ],
  [
    'ADD COLUMN with a default, and VACUUM FULL',
    'create table p (id int primary key); insert into p values (1)',
    ['alter table p add n int default 7', 'vacuum full p'],
    [{ name: 'p', change: 'altered' }],
  ],
  [
    'a table of a user with the name that a rewrite uses',
    'create table pg_temp_1 (id int); insert into pg_temp_1 values (1)',
    ['drop table pg_temp_1'],
    [{ name: 'pg_temp_1', change: 'dropped' }],
  ],
];

/** With logical replication, the log has more in it. A slot that isn't read keeps it. */
async function follow(uri: string, superuser: string): Promise<void> {
  await query(superuser, "create publication everything for all tables with (publish = 'insert, truncate')");
  await createSlot(uri, 'unread');
}

for (const logicalReplication of [false, true])
  describe(`What has changed, exactly${logicalReplication ? ', with logical replication' : ''}`, () => {
    const branch = useBranch({
      branchId: ID,
      logicalReplication,
      pgSettings: { wal_compression: 'pglz', max_wal_size: '4096' },
    });
    before(async () => logicalReplication && follow(branch.uri, superuserUri(branch.service, branch.uri)));

    const now = () => serverTime(branch.uri);
    const run = (...statements: readonly string[]) => runStatements(branch.uri, ...statements);
    const since = async (timestamp: string) => {
      const [found] = await branch.service.engine.changesSince(ID, [{ branchId: ID, timestamp }]);
      return found?.map(entryOf);
    };
    /** Makes a base, which begins with a checkpoint. */
    const makeBase = () => keepHistory(branch.service, ID);

    for (const [what, before, after, expected] of CASES)
      it(`has ${what}`, async () => {
        await run(before);
        const moment = await now();
        await run(...after);
        assert.deepEqual(await since(moment), expected.map(complete));
      });

    it('has a database that is renamed', async () => {
      await query(branch.uri, 'create database early');
      const moment = await now();
      await query(branch.uri, 'alter database early rename to late');
      assert.deepEqual(await since(moment), [
        { ...complete({ name: 'late', change: 'altered' }), schema: undefined },
      ]);
      await query(branch.uri, 'drop database late');
      assert.deepEqual(
        (await since(moment))?.map(({ name, change }) => [name, change]),
        [['early', 'dropped']],
      );
    });

    it('has commits that are not on the disk yet', async () => {
      const client = await connectTo(branch.uri);
      await client.query('create table async (id int); set synchronous_commit = off');
      for (let round = 1; round <= 20; round += 1) {
        const moment = await now();
        await client.query('insert into async values (1)');
        assert.deepEqual(await since(moment), [complete({ name: 'async', added: 1 })]);
      }
    });

    it('reads compressed pages of catalogs after a checkpoint', async () => {
      await run('create table packed (id int); insert into packed values (1)');
      await makeBase();
      const moment = await now();
      await run('drop table packed', 'create table packed_2 as select 1 as id');
      assert.deepEqual(await since(moment), [
        complete({ name: 'packed', change: 'dropped' }),
        complete({ name: 'packed_2', change: 'created' }),
      ]);
    });

    it('says that it is unknown if the log doesn’t have the row that was changed, but not since later moments', async () => {
      await run('create table gone (id int)', 'create table filler (text text)');
      // The rest of the pages of the catalogs is before what is read.
      await run(`insert into filler select repeat('x', 900) from generate_series(1, 75000)`);
      // From then on, it is known which transactions are complete.
      await query(superuserUri(branch.service, branch.uri), 'select pg_log_standby_snapshot()');
      const client = await connectTo(branch.uri);
      await client.query('begin; drop table gone');
      await run("insert into filler values ('before the commit')");
      const moment = await now();
      await client.query('commit');
      assert.equal(await since(moment), undefined);
      const later = await now();
      await run("insert into filler values ('after it')");
      assert.deepEqual(await since(later), [complete({ name: 'filler', added: 1 })]);
    });
  });
