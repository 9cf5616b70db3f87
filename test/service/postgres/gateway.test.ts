import assert from 'node:assert/strict';
import { query } from './clients.ts';
import { startControlPlane, type ControlPlane } from './controlPlane.ts';

describe('gateway', function () {
  this.timeout(30_000);
  let service: ControlPlane;
  before(async () => (service = await startControlPlane()));
  after(async () => service.close());

  it('wakes an idle compute for the first connection and answers it', async () => {
    const compute = await service.create();
    assert.deepEqual(await query(await service.uri(compute), 'select 1 + 1'), [2]);
    assert.deepEqual(service.woken, [compute.id]);
  });

  it('keeps rows over a suspension', async () => {
    const compute = await service.create({ branchId: 'br-rows' });
    const uri = await service.uri(compute);
    await query(uri, 'create table kept as select 7 as id');
    await service.engine.suspend(compute.id);
    assert.deepEqual(await query(uri, 'select id from kept'), [7]);
  });
});
