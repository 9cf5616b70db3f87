/** Branches of a running source that keeps its history. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import type { Moment } from '../../../../../src/service/core/branchHistory.ts';
import { until } from '../../../../workbench/until.ts';
import { connectTo, query } from '../clients.ts';
import { startControlPlane, type ControlPlane } from '../controlPlane.ts';

const LIMITS = { branch: 2 ** 40, total: 2 ** 40, leastWritten: 0, mostWritten: 0, leastFree: 0 };
const COUNT = 'select count(*)::int from item';

describe('A branch of a running source with history', () => {
  const id = 'br-source';
  let service: ControlPlane;
  let uri: string;
  let created = 0;

  const makeBase = () =>
    service.engine.keepHistory([{ id, seconds: 86_400 }], { isAll: true, limits: LIMITS });
  const walFiles = () =>
    readdirSync(path.join(service.dataDir, 'postgres/branches', id, 'data/pg_wal')).filter(
      (name) => name.length === 24,
    ).length;

  /** @returns what a query returns on a new branch, which is then deleted */
  async function onBranch(sql: string, moment?: Moment): Promise<unknown[]> {
    return (await onBranchWithLsn(sql, moment)).result;
  }

  /** @returns also the position up to which the branch has the data of its source */
  async function onBranchWithLsn(sql: string, moment?: Moment) {
    const [branchId, computeId] = [`br-copy-${(created += 1)}`, `ep-copy-${created}`];
    const lsn = await service.engine.createBranch({
      id: branchId,
      parentId: id,
      keepsHistory: true,
      ...(moment && { moment }),
    });
    const compute = await service.create({ id: computeId, branchId });
    const result = await query(await service.uri(compute), sql);
    await service.engine.remove(computeId);
    await service.engine.deleteBranch(branchId);
    return { result, lsn };
  }

  before(async () => {
    service = await startControlPlane();
    await service.engine.createBranch({ id, keepsHistory: true });
    uri = await service.uri(await service.create({ id: 'ep-source', branchId: id }));
    await query(uri, 'create table item (id int)');
    await makeBase();
  });
  beforeEach(() => query(uri, 'truncate item'));

  it('leaves the history of the source as it is', async () => {
    const before = walFiles();
    for (let round = 0; round < 5; round += 1) assert.deepEqual(await onBranch(COUNT), [0]);
    assert(walFiles() <= before + 1, `${before} files of the log, then ${walFiles()}`);
  });

  it('has all that was committed before, also if its client did not wait for the disk', async () => {
    const client = await connectTo(uri);
    await client.query('set synchronous_commit to off');
    for (let rows = 1; rows <= 5; rows += 1) {
      await client.query('insert into item values (1)');
      assert.deepEqual(await onBranch(COUNT), [rows]);
    }
  });

  it('has exactly what was written before the position that it names', async () => {
    let [confirmed, isOver] = [0, false];
    const write = async () => {
      const client = await connectTo(uri);
      for (; !isOver; confirmed += 1) await client.query('insert into item values (1)');
      await client.end();
    };
    const writing = [write(), write(), write()];
    await until('rows are written', async () => confirmed > 100);
    for (let round = 0; round < 6; round += 1) {
      // The first two are copies of the base, and the third one, after much was written, is a backup.
      if (round % 3 === 0) await makeBase();
      if (round % 3 === 2) await query(uri, 'insert into item select from generate_series(1, 200000)');
      const { result, lsn = '' } = await onBranchWithLsn(COUNT);
      assert.deepEqual(await onBranch(COUNT, { lsn }), result, lsn);
    }
    isOver = true;
    await Promise.all(writing);
  });

  it('has whole transactions while much is written, with a base that is new or older', async () => {
    const client = await connectTo(uri);
    let [confirmed, isDone] = [0, false];
    const writing = (async () => {
      while (!isDone) {
        await client.query('begin; insert into item values (1); insert into item values (-1); commit');
        confirmed += 2;
        if (confirmed % 1000 === 0) await client.query('update item set id = id');
      }
    })();
    for (let round = 0; round < 8; round += 1) {
      if (round % 4 === 3) await makeBase();
      const least = confirmed;
      const [rows, sum] = await onBranch('select count(*)::int, sum(id)::int from item');
      assert(Number(rows) >= least, `${String(rows)} of ${least} rows`);
      assert.equal(Number(rows) === 0 ? 0 : sum, 0);
    }
    isDone = true;
    await writing;
  });

  it('has the state to which the source was restored, and what followed', async () => {
    const { endLsn = '' } = (await service.engine.history(id)) ?? {};
    await query(uri, 'insert into item values (1), (2)');
    await service.engine.suspend('ep-source');
    await service.engine.restoreBranch({ id, sourceId: id, moment: { lsn: endLsn }, preservedId: 'br-kept' });
    await query(uri, 'insert into item values (3)');
    for (let round = 0; round < 2; round += 1) {
      assert.deepEqual(await onBranch('select id from item'), [3]);
      await makeBase();
    }
  });
});
