import '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { LastCompute } from '../../../../../src/model/inventory/lastCompute.ts';
import { connectStore, MemoryMap, type ConnectedStore } from '../../../../helpers/connectedStore.ts';
import { computeRecord, scriptService, type ScriptedService } from '../../../../helpers/scriptedService.ts';

const { pickCompute, requireCompute } = await import('../../../../../src/ui/commands/input/pickers.ts');

describe('pickers', () => {
  let service: ScriptedService;
  let store: ConnectedStore;
  let endpoints: unknown[];

  beforeEach(async () => {
    endpoints = [computeRecord('ep-first')];
    service = await scriptService(() => ({ endpoints }));
    store = await connectStore(service);
  });
  afterEach(async () => {
    store.dispose();
    await service.close();
  });

  const find = async (computeId: string) =>
    (await requireCompute(store, { projectId: 'shop', computeId })).id;

  it('returns a loaded compute without another request', async () => {
    await find('ep-first');
    await find('ep-first');
    assert.deepEqual(service.requests, ['GET /projects/shop/endpoints']);
  });

  it('refreshes the list once for a compute that is newer than the list', async () => {
    await find('ep-first');
    endpoints.push(computeRecord('ep-second'));
    assert.equal(await find('ep-second'), 'ep-second');
  });

  it('says that a deleted compute no longer exists', async () => {
    await assert.rejects(find('ep-deleted'), { message: 'ep-deleted no longer exists.' });
  });

  it('finds the branch that the compute of an old row is on now', async () => {
    const lastCompute = new LastCompute(store.session, new MemoryMap());
    const computesView = { view: { selection: [] } };
    const row = { kind: 'compute', projectId: 'shop', branchId: 'br-old', computeId: 'ep-first' };
    const node = await pickCompute({ ...store, lastCompute, computesView }, 'Restart', row);
    assert.equal(node?.branchId, 'br-main');
  });
});
