import { statusBarItems } from '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import type { ComputeNode } from '../../../../../src/extension/inventory/nodes.ts';
import { connectScripted } from '../../../../helpers/connectedModel.ts';
import { computeRecord, operationRecord } from '../../../../helpers/scriptedService.ts';

const { showPendingChanges } = await import('../../../../../src/extension/operations/ui/statusBar.ts');

const node: ComputeNode = { kind: 'compute', projectId: 'shop', branchId: 'br-main', computeId: 'ep-main' };

describe('The status bar', () => {
  it('counts a restart as one operation, although the service suspends and starts the compute', async () => {
    statusBarItems.clear();
    const endpoint = computeRecord('ep-main', { pending_state: 'idle' });
    const operations = [
      operationRecord(1, { action: 'suspend_compute' }),
      operationRecord(2, { action: 'start_compute', status: 'scheduling' }),
    ];
    const model = await connectScripted((call) => {
      if (call === 'GET /projects') return { projects: [{ id: 'shop', name: 'Shop' }] };
      if (call.includes('/operations/')) return { operation: operations[0] };
      return call.startsWith('GET') ? { endpoints: [endpoint] } : { endpoint, operations };
    });
    await model.inventory.loadComputes('shop');
    const shown = showPendingChanges(
      model.tracker,
      () => false,
      () => undefined,
    );
    await model.computeActions.restart(node, model.options);
    assert.deepEqual(model.tracker.pending[0]?.operations.length, 2);
    assert.match(statusBarItems.get('hostedPostgres.operations') ?? '', /\b1 operation$/);
    shown.dispose();
  });
});
