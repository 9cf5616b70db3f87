import '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { deletionProblem } from '../../../../../src/model/inventory/branchStatus.ts';
import { connectStore, type ConnectedStore } from '../../../../helpers/connectedStore.ts';
import { scriptService, type ScriptedService } from '../../../../helpers/scriptedService.ts';

const { requireBranches } = await import('../../../../../src/ui/commands/input/branchPicker.ts');

describe('requireBranches', () => {
  let service: ScriptedService;
  let store: ConnectedStore;
  let branches: unknown;

  beforeEach(async () => {
    service = await scriptService(() => (typeof branches === 'number' ? branches : { branches }));
    store = await connectStore(service);
  });
  afterEach(async () => {
    store.dispose();
    await service.close();
  });

  it('shows no reason against a change that another client has removed', async () => {
    const dev = { id: 'br-dev', name: 'dev', parent_id: 'br-main' };
    branches = [dev, { id: 'br-child', name: 'child', parent_id: 'br-dev' }];
    await store.inventory.branches.ensure('shop');
    branches = [dev];
    const list = await requireBranches(store, 'shop');
    const branch = list.branches.get('br-dev');
    assert.ok(branch);
    assert.equal(deletionProblem(list, branch), undefined);
  });

  it('says whether the service does not offer branches or could not be reached', async () => {
    branches = 500;
    await assert.rejects(requireBranches(store, 'shop'), /Couldn't load/);
    branches = 405;
    await assert.rejects(requireBranches(store, 'shop'), /doesn't support changing branches/);
  });
});
