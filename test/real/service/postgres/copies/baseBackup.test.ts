/** Branches of a running source that keeps its history. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { connectTo, query } from '../clients.ts';
import { keepHistory } from '../keepHistory.ts';
import { useBranch } from '../useBranch.ts';

const COUNT = 'select count(*)::int from item';

describe('A branch of a running source with history', () => {
  const id = 'br-source';
  const branch = useBranch({ branchId: id });
  let created = 0;

  const makeBase = () => keepHistory(branch.service, id);
  const walFiles = () =>
    readdirSync(path.join(branch.service.dataDir, 'postgres/branches', id, 'data/pg_wal')).filter(
      (name) => name.length === 24,
    ).length;

  /** @returns what a query returns on a new branch, which is then deleted */
  async function onBranch(sql: string): Promise<unknown[]> {
    const [branchId, computeId] = [`br-copy-${(created += 1)}`, `ep-copy-${created}`];
    await branch.service.engine.createBranch({ id: branchId, parentId: id, keepsHistory: true });
    const compute = await branch.service.create({ id: computeId, branchId });
    const result = await query(await branch.service.uri(compute), sql);
    await branch.service.engine.remove(computeId);
    await branch.service.engine.deleteBranch(branchId);
    return result;
  }

  before(async () => {
    await query(branch.uri, 'create table item (id int)');
    await makeBase();
  });
  beforeEach(() => query(branch.uri, 'truncate item'));

  it('leaves the history of the source as it is', async () => {
    const before = walFiles();
    for (let round = 0; round < 5; round += 1) assert.deepEqual(await onBranch(COUNT), [0]);
    assert(walFiles() <= before + 1, `${before} files of the log, then ${walFiles()}`);
  });

  it('has all that was committed before, also if its client did not wait for the disk', async () => {
    const client = await connectTo(branch.uri);
    await client.query('set synchronous_commit to off');
    for (let rows = 1; rows <= 5; rows += 1) {
      await client.query('insert into item values (1)');
      assert.deepEqual(await onBranch(COUNT), [rows]);
    }
  });

  it('has whole transactions while much is written, with a base that is new or older', async () => {
    const client = await connectTo(branch.uri);
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
    const { endLsn = '' } = (await branch.service.engine.history(id)) ?? {};
    await query(branch.uri, 'insert into item values (1), (2)');
    await branch.service.engine.suspend('ep-source');
    await branch.service.engine.restoreBranch({
      id,
      sourceId: id,
      moment: { lsn: endLsn },
      preservedId: 'br-kept',
    });
    await query(branch.uri, 'insert into item values (3)');
    for (let round = 0; round < 2; round += 1) {
      assert.deepEqual(await onBranch('select id from item'), [3]);
      await makeBase();
    }
  });
});
