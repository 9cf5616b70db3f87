/** What has changed since a moment, counted in the write-ahead log. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type pg from 'pg';
import type { Moment, PastMoment } from '../../../../../src/service/core/branchHistory.ts';
import { CASES, complete } from './changeCases.ts';
import { connectTo, eventually, query, runStatements } from '../clients.ts';
import { DAY, keepHistory, serverTime } from '../keepHistory.ts';
import { useBranch } from '../useBranch.ts';

const ID = 'br-changes';

describe('What has changed since a moment', () => {
  const branch = useBranch({ branchId: ID, pgSettings: { max_prepared_transactions: '2' } });
  let start: string;

  const now = () => serverTime(branch.uri);
  const since = async (timestamp: string, branchId = ID) => {
    const [found] = await branch.service.engine.changesSince(ID, [{ branchId, timestamp }]);
    return found;
  };
  const run = (statements: readonly string[]) => runStatements(branch.uri, ...statements);
  const restart = async () => {
    await branch.service.engine.suspend(branch.compute.id);
    await query(branch.uri, 'select 1');
  };
  const kill = async () => {
    const { crashed, dataDir } = branch.service;
    const file = path.join(dataDir, 'postgres/branches', ID, 'data/postmaster.pid');
    const before = crashed.length;
    process.kill(Number(readFileSync(file, 'utf8').split('\n')[0]), 'SIGKILL');
    await eventually(() => crashed.length > before);
    await query(branch.uri, 'select 1');
  };
  /** DROP DATABASE waits for all sessions after it has marked the database: one that is stopped makes it wait. */
  const interruptDrop = async (database: string) => {
    const [stopped, dropping] = [await connectTo(branch.uri), await connectTo(branch.uri)];
    const pidOf = async (client: pg.Client) =>
      (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid ?? assert.fail();
    const [stoppedPid, pid] = [await pidOf(stopped), await pidOf(dropping)];
    process.kill(stoppedPid, 'SIGSTOP');
    try {
      const dropped = assert.rejects(dropping.query(`drop database ${database}`), { code: '57014' });
      const waits = `select 1 from pg_stat_activity where pid = ${pid} and wait_event = 'ProcSignalBarrier'`;
      await eventually(async () => (await query(branch.uri, waits)).length > 0);
      await query(branch.uri, `select pg_cancel_backend(${pid})`);
      await dropped;
    } finally {
      process.kill(stoppedPid, 'SIGCONT');
      await Promise.all([stopped.end(), dropping.end()]);
    }
  };
  /** Makes a base, which begins with a checkpoint. */
  const makeBase = () => keepHistory(branch.service, ID);
  const insertOrder = () => query(branch.uri, 'insert into orders select max(id) + 1 from orders');
  /** Returns the numbers of changed rows since the moments. */
  const ordersSince = async (moments: readonly PastMoment[]) => {
    const found = await branch.service.engine.changesSince(ID, moments);
    return found.map((tables) => {
      const orders = tables?.find(({ schema, name }) => schema === 'public' && name === 'orders');
      return tables && [orders?.added ?? 0, orders?.changed ?? 0, orders?.deleted ?? 0];
    });
  };
  const own = (timestamp: string): PastMoment => ({ branchId: ID, timestamp });

  before(async () => {
    start = await now();
    await run([
      'create table orders (id int primary key, name text)',
      'create table items (id int primary key, name text)',
      'create table documents (id int, body text)',
      `create table events (id int, name text) partition by range (id);
      create table events_1 partition of events for values from (0) to (10);
      create table events_2 partition of events for values from (10) to (20)`,
      'create schema shop; create table shop.orders (id int); create table shop.carts (id int)',
    ]);
  });

  const moments: string[] = [];

  for (const [what, statements, expected] of CASES)
    it(`has ${what}`, async () => {
      const moment = await now();
      moments.push(moment);
      await run(statements);
      const found = await since(moment);
      assert.ok(found);
      assert.deepEqual(found.map(complete), expected.map(complete));
      assert.ok(found.every(({ database }) => database === 'app'));
    });

  it('knows it when Postgres has flushed the log up to the end of a page, within a record', async () => {
    // The end of such a transaction isn't flushed, so the background writer decides where the log on disk ends.
    for (let round = 0; round < 20; round += 1) {
      const moment = await now();
      await run(['begin; drop table orders cascade; rollback']);
      assert.deepEqual(await since(moment), []);
    }
  });

  /** The sums of the cases from each one on. */
  const sums = () => {
    const sum = [0, 0, 0];
    return CASES.toReversed()
      .map(([, , expected]) => {
        const {
          added = 0,
          changed = 0,
          deleted = 0,
        } = expected.find(({ schema, name }) => schema === undefined && name === 'orders') ?? {};
        [added, changed, deleted].forEach((count, index) => (sum[index] = (sum[index] ?? 0) + count));
        return [...sum];
      })
      .toReversed();
  };

  it('has the changes since all of these moments at once, in any order', async () => {
    const found = await ordersSince(moments.map(own).toReversed());
    assert.deepEqual(found.toReversed(), sums());
  });

  it('knows it also after a base, a restart and a crash, since moments before and after them', async () => {
    const expected = sums();
    for (const interrupt of [makeBase, restart, kill, makeBase]) {
      moments.push(await now());
      await insertOrder();
      await interrupt();
      expected.push([0, 0, 0]);
      for (const sum of expected) sum[0] = (sum[0] ?? 0) + 1;
      assert.deepEqual(await ordersSince(moments.map(own)), expected, interrupt.name);
    }
  });

  it('doesn’t know it without an active primary, and starts none', async () => {
    await branch.service.engine.suspend(branch.compute.id);
    const { length } = branch.service.woken;
    assert.equal(await since(moments[0] ?? ''), undefined);
    assert.equal(branch.service.woken.length, length);
    await query(branch.uri, 'select 1');
  });

  it('doesn’t know it since a time before the history', async () => {
    assert.equal(await since(new Date(Date.parse(start) - DAY * 1000).toISOString()), undefined);
    assert.notEqual(await since(start), undefined);
  });

  it('names other databases', async () => {
    const moment = await now();
    await query(branch.uri, 'create database other');
    const other = branch.uri.replace(/\/app$/, '/other');
    await query(other, 'create table notes ()');
    const created = await since(moment);
    assert.deepEqual(
      created?.map(({ database, name, change }) => [database, name, change]),
      [['other', 'other', 'created']],
    );
    const later = await now();
    await query(other, 'insert into notes default values');
    assert.deepEqual(
      (await since(later))?.map(({ database, name, added }) => [database, name, added]),
      [['other', 'notes', 1]],
    );
    await query(branch.uri, 'drop database other');
    assert.deepEqual(
      (await since(later))?.map(({ name, change }) => [name, change]),
      [['other', 'dropped']],
    );
    assert.deepEqual(await since(moment), []);
  });

  it('knows it after DROP DATABASE was interrupted, which leaves an invalid database', async function () {
    if (process.platform === 'win32') return this.skip(); // No signal stops a session there.
    const before = await now();
    await query(branch.uri, 'create database half');
    await query(branch.uri.replace(/\/app$/, '/half'), 'create table notes as select 1');
    const moment = await now();
    await interruptDrop('half');
    const invalid = 'select datname::text from pg_database where datconnlimit = -2';
    assert.deepEqual(await query(branch.uri, invalid), ['half']);
    assert.deepEqual(
      (await since(moment))?.map(({ name, change }) => [name, change]),
      [['half', 'dropped']],
    );
    assert.deepEqual(await since(before), []);
    assert.ok('sql' in (await branch.service.engine.schema(ID, 'app', 'sql')));
    await query(branch.uri, 'drop database half');
    assert.deepEqual(await since(before), []);
  });

  it('counts from the present history after an undo, and since moments that both have', async () => {
    const before = await now();
    await insertOrder();
    const target = await now();
    await insertOrder();
    const undone = await now();
    await insertOrder();
    const restore = async (moment?: Moment, sourceId = ID, preservedId = 'br-old') => {
      await branch.service.engine.suspend(branch.compute.id);
      await branch.service.engine.restoreBranch({ id: ID, sourceId, moment, preservedId });
      await query(branch.uri, 'select 1');
    };
    await restore({ timestamp: target });
    const old = (timestamp: string): PastMoment => ({ branchId: 'br-old', timestamp });
    const after = await now();
    assert.deepEqual(await ordersSince([own(after), old(before), old(target), old(undone)]), [
      [0, 0, 0],
      [1, 0, 0],
      undefined,
      undefined,
    ]);
    await insertOrder();
    await insertOrder();
    assert.deepEqual(await ordersSince([own(after), old(before), old(target), old(undone)]), [
      [2, 0, 0],
      [3, 0, 0],
      undefined,
      undefined,
    ]);
    // The undo is undone: what was before is the same, and what came in between is in another branch.
    await restore(undefined, 'br-old', 'br-between');
    await insertOrder();
    const between = (timestamp: string): PastMoment => ({ branchId: 'br-between', timestamp });
    assert.deepEqual(await ordersSince([old(before), old(target), old(undone), between(after)]), [
      [4, 0, 0],
      [3, 0, 0],
      [2, 0, 0],
      undefined,
    ]);
  });

  it('reads a limited part of the log', async () => {
    const early = await now();
    await run([
      `create table filler as select repeat('x', 900) as text from generate_series(1, 75000); truncate filler`,
    ]);
    // It says which transactions are complete.
    await makeBase();
    const late = await now();
    await insertOrder();
    assert.deepEqual(await ordersSince([own(early), own(late)]), [undefined, [1, 0, 0]]);
  });
});
