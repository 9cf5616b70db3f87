import '../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { accountId } from '../../../../src/extension/account/accounts.ts';
import { restoreSnapshotInPlace } from '../../../../src/extension/history/snapshotActions.ts';
import { connectScripted } from '../../../helpers/connectedModel.ts';
import { operationRecord } from '../../../helpers/scriptedService.ts';
import { until } from '../../../workbench/until.ts';

const { pendingText } = await import('../../../../src/extension/operations/ui/changeText.ts');

describe('restoreSnapshotInPlace', () => {
  it('is shown with the name of the branch, also while the new branch has another one', async () => {
    const branches = [{ id: 'br-main', name: 'main', default: true }];
    let status = 'running';
    const model = await connectScripted((call) => {
      if (call === 'GET /projects') return { projects: [{ id: 'shop', name: 'Shop' }] };
      if (call.includes('/operations/')) return { operation: operationRecord(1, { status }) };
      if (call.startsWith('GET')) return { branches, annotations: {}, endpoints: [], snapshots: [] };
      const branch = { id: 'br-new', name: 'before (restored)', default: false };
      branches.push(branch);
      return { branch, operations: [operationRecord(1)] };
    });
    await model.inventory.ensureProjects();
    await model.inventory.branches.ensureLoaded('shop');
    const ref = { account: accountId(model.account), projectId: 'shop', branchId: 'br-main' };
    const snapshot = { snapshotId: 'snap-1', verb: 'undo' } as const;
    const end = restoreSnapshotInPlace(model, ref, snapshot, model.options);
    const [change] = await until(
      'the change',
      async () => model.tracker.pending.length > 0 && model.tracker.pending,
    );
    assert.equal(change && pendingText(change), 'Undoing main (Shop)');
    status = 'finished';
    await until('the end', async () => {
      model.clock.advance(1000);
      return model.tracker.pending.length === 0;
    });
    await end;
  });
});
