/** Branches of a time have what was committed until then, and nothing of the transaction that was open. */
import assert from 'node:assert/strict';
import type { Moment } from '../../../../../src/service/core/branchHistory.ts';
import { connectTo, query, runStatements } from '../clients.ts';
import { keepHistory, serverTime } from '../keepHistory.ts';
import { useBranch } from '../useBranch.ts';

const ID = 'br-times';
const SETTINGS = { max_prepared_transactions: '5' };

describe('A branch of a time', () => {
  const branch = useBranch({ branchId: ID, pgSettings: SETTINGS });
  before(async () => {
    await query(branch.uri, 'create table item (id serial primary key)');
  });

  const now = async (): Promise<Moment> => {
    return { timestamp: await serverTime(branch.uri) };
  };
  const run = (sql: string) => runStatements(branch.uri, sql);
  let created = 0;
  /** @returns what `read` returns with a connection string of a branch of the moment */
  const at = async <T>(moment: Moment, read: (past: string) => Promise<T>, parentId = ID): Promise<T> => {
    const id = `br-past${(created += 1)}`;
    await branch.service.engine.createBranch({ id, parentId, moment });
    const compute = await branch.service.create({
      id: `ep-past${created}`,
      branchId: id,
      pgSettings: SETTINGS,
    });
    try {
      return await read(await branch.service.uri(compute));
    } finally {
      await branch.service.engine.remove(compute.id);
      await branch.service.engine.deleteBranch(id);
    }
  };

  it('just before a database was dropped has the database', async () => {
    await query(branch.uri, 'create database dropped');
    const dropped = branch.uri.replace(/app$/, 'dropped');
    await query(dropped, 'create table kept as select 7 as id');
    const before = await now();
    await query(branch.uri, 'drop database dropped');
    const after = await now();
    const read = async (past: string) => query(past.replace(/app$/, 'dropped'), 'select id from kept');
    assert.deepEqual(await at(before, read), [7]);
    assert.deepEqual(
      await at(after, async (past) =>
        query(past, "select datname::text from pg_database where datname = 'dropped'"),
      ),
      [],
    );
  });

  it('just before a transaction has the sequences from then', async () => {
    await query(branch.uri, 'insert into item select from generate_series(1, 40)');
    const before = await now();
    await run(`begin; truncate item; select setval('item_id_seq', 1, false); commit`);
    await at(before, async (past) => {
      assert.deepEqual(await query(past, 'insert into item default values returning id > 40'), [true]);
    });
  });

  it('has nothing of a transaction that was open, however it ended', async () => {
    for (const end of ['commit', 'rollback', `prepare transaction 'later'`]) {
      await query(branch.uri, `select setval('item_id_seq', 1000)`);
      const before = await now();
      await run(`begin; savepoint s; select setval('item_id_seq', 1, false); release s; ${end}`);
      await at(before, async (past) => {
        assert.deepEqual(await query(past, `select nextval('item_id_seq') > 1`), [true], end);
      });
    }
    await query(branch.uri, `rollback prepared 'later'`);
  });

  it('has a prepared transaction until it is committed', async () => {
    await run(`begin; create table promised (); prepare transaction 'promised'`);
    const prepared = await now();
    await query(branch.uri, `commit prepared 'promised'`);
    const committed = await now();
    const read = async (past: string) =>
      query(past, `select gid from pg_prepared_xacts union all select to_regclass('promised')::text`);
    assert.deepEqual(await at(prepared, read), ['promised', null]);
    assert.deepEqual(await at(committed, read), ['promised']);
  });

  it('has what was committed without waiting for the disk', async () => {
    await run('set synchronous_commit = off; create table quick ()');
    const moment = await now();
    assert.deepEqual(await at(moment, async (past) => query(past, `select to_regclass('quick')::text`)), [
      'quick',
    ]);
  });

  it('just after a base is as the base, although a transaction was open', async () => {
    const client = await connectTo(branch.uri);
    await client.query(`begin; select setval('item_id_seq', 2000)`);
    await keepHistory(branch.service, ID);
    const moment = await now();
    await client.query(`select setval('item_id_seq', 1, false); commit`);
    await client.end();
    await at(moment, async (past) => {
      assert.deepEqual(await query(past, `select nextval('item_id_seq')`), ['2001']);
    });
  });
});
