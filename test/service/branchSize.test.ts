import assert from 'node:assert/strict';
import { branchCalls } from '../helpers/branchCalls.ts';
import { until } from '../workbench/until.ts';
import { startInProcess } from './inProcess.ts';
import { query } from './postgres/clients.ts';
import { startControlPlane } from './postgres/controlPlane.ts';

const PROJECT = 'shiny-wind-028834';
const MAIN = 'br-aged-salad-637688';
const IDLE = 'br-frosty-lake-110382';
const MEGABYTE = 1024 ** 2;

describe('The size of a branch', () => {
  it('is as of when its compute was last active, or that of its parent', async () => {
    const test = await startInProcess();
    const api = branchCalls({ baseUrl: test.service.baseUrl, key: test.key });
    const sizeOf = async (id: string) =>
      (await api.branches(PROJECT)).find((branch) => branch.id === id)?.logical_size;
    for (const size of [30_000_000, 40_000_000]) {
      test.engine.branchSize = size;
      await until('the size is known', async () => {
        test.clock.advance(30_000);
        return (await sizeOf(MAIN)) === size;
      });
    }
    assert.equal(await sizeOf(IDLE), undefined);
    const { branch } = await api.send('POST', `/${PROJECT}/branches`, {});
    assert.equal(branch.logical_size, 40_000_000);
    await test.stop();
  });

  it('is that of its databases, also while no server runs', async () => {
    const service = await startControlPlane();
    const { engine } = service;
    try {
      const compute = await service.create();
      const uri = await service.uri(compute);
      await query(
        uri,
        'create table filler as select repeat(md5(g::text), 20) from generate_series(1, 20000) g',
      );
      const [expected] = await query(uri, 'select sum(pg_database_size(oid))::float8 from pg_database');
      await engine.suspend(compute.id);
      const bytes = (await engine.size(compute.branchId)) ?? 0;
      assert(Math.abs(bytes - Number(expected)) < MEGABYTE, `${bytes} ${String(expected)}`);
    } finally {
      await service.close();
    }
  });
});
