import assert from 'node:assert/strict';
import type { PastMoment } from '../../../../src/service/core/branchHistory.ts';
import { branchCalls } from '../../../helpers/branchCalls.ts';
import { startInProcess } from '../inProcess.ts';
import { MAIN, PROJECT } from './sampleProject.ts';

const CHANGES = `/${PROJECT}/branches/${MAIN}/changes`;

describe('The changes of a branch since moments', () => {
  it('are those that the engine knows, with the first tables of each', async () => {
    const test = await startInProcess();
    const api = branchCalls(test);
    const asked: PastMoment[] = [];
    const table = { database: 'app', schema: 'public', name: 'orders', added: 1, changed: 2, deleted: 3 };
    test.engine.changesSince = async (branchId, moments) => {
      assert.equal(branchId, MAIN);
      asked.push(...moments);
      return [undefined, Array.from({ length: 12 }, () => table), []];
    };
    const [first, second] = ['2025-12-31T10:00:00.123456Z', '2025-12-31T11:00:00Z'];
    const since = [first, `br-gone@${first}`, second, `${MAIN}@${second}`].join();
    assert.deepEqual(await api.send('GET', `${CHANGES}?since=${since}`), {
      changes: [
        { since: second, tables: Array.from({ length: 10 }, () => table), tables_count: 12 },
        { since: `${MAIN}@${second}`, tables: [], tables_count: 0 },
      ],
    });
    assert.deepEqual(
      asked.map(({ branchId, timestamp }) => [branchId, timestamp]),
      [first, second, second].map((timestamp) => [MAIN, timestamp]),
    );
  });

  it('need times, and not too many', async () => {
    const test = await startInProcess();
    const api = branchCalls(test);
    const times = (count: number) => Array.from({ length: count }, () => '2025-12-31T10:00:00Z').join();
    for (const [query, status] of [
      ['', 400],
      [`?since=${times(101)}`, 400],
      ['?since=yesterday', 400],
      ['?since=2026', 400],
      ['?since=2026-01-01T00:00:00', 400],
      ['?since=0/', 400],
      ['?since=0/15000A8', 200],
      ['?since=br-none@0/15000A8', 200],
      ['?since=2099-12-31T10:00:00Z', 422],
      [`?since=${times(100)}`, 200],
    ] as const)
      await api.send('GET', `${CHANGES}${query}`, undefined, status);
    await api.send('GET', `/${PROJECT}/branches/br-none/changes?since=${times(1)}`, undefined, 404);
  });

  it('are also the last transactions that have changed a table', async () => {
    const test = await startInProcess();
    const api = branchCalls(test);
    const commit = {
      ids: [801],
      before: '2025-12-31T10:00:00.123456Z',
      lsn: '0/15000A8',
      late: false,
      added: 1,
      changed: 0,
      deleted: 0,
    };
    assert.deepEqual(await api.send('GET', `${CHANGES}?table=1/2/3`), { transactions: [] });
    test.engine.tableTransactions = async (branchId, table) => {
      assert.deepEqual([branchId, table], [MAIN, { database: 16_384, table: 16_501, file: 16_510 }]);
      return [{ ...commit, ids: [800] }, ...Array.from({ length: 2000 }, () => commit)];
    };
    const transactions = Array.from({ length: 2000 }, () => commit);
    assert.deepEqual(await api.send('GET', `${CHANGES}?table=16384/16501/16510`), { transactions });
    for (const table of ['app.orders', '1/2', '1/2/-3', '1/2/3/4'])
      await api.send('GET', `${CHANGES}?table=${table}`, undefined, 400);
  });

  it('are also the moments before changes of the schema', async () => {
    const test = await startInProcess();
    const api = branchCalls(test);
    assert.deepEqual(await api.send('GET', `${CHANGES}?schema=true`), { schema_changes: [] });
    const change = {
      before: '2025-12-31T10:00:00.123456Z',
      lsn: '0/15000A8',
      created: 1,
      altered: 0,
      dropped: 0,
      truncated: 0,
      migrations: 1,
    };
    test.engine.schemaChanges = async () => Array.from({ length: 101 }, () => change);
    const schema_changes = Array.from({ length: 100 }, () => change);
    assert.deepEqual(await api.send('GET', `${CHANGES}?schema=true`), { schema_changes });
  });
});
