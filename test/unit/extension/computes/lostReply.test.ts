import assert from 'node:assert/strict';
import type { ComputeNode } from '../../../../src/extension/inventory/nodes.ts';
import { connectScripted, type ScriptedModel } from '../../../helpers/connectedModel.ts';
import { computeRecord, operationRecord } from '../../../helpers/scriptedService.ts';

const node: ComputeNode = { kind: 'compute', projectId: 'shop', branchId: 'br-main', computeId: 'ep-one' };

describe('ComputeActions after a lost reply', () => {
  let store: ScriptedModel;
  let computes: unknown[];

  beforeEach(async () => {
    computes = [computeRecord('ep-one', { updated_at: '2026-01-01T00:00:00Z' })];
    store = await connectScripted(() => ({ endpoints: computes }));
    await store.inventory.loadComputes('shop');
  });

  /** Replies to changes; the lists stay as they are. */
  const replyToChanges = (reply: () => unknown) => {
    store.service.script = (call) => (call.startsWith('GET') ? { endpoints: computes } : reply());
  };

  describe('after the lost reply to a restart', () => {
    let operations: object[];

    const restart = (made: () => void) => {
      store.service.script = (call) => {
        if (call.startsWith('GET'))
          return call.includes('/operations') ? { operations } : { endpoints: computes };
        made();
        return 504;
      };
      return store.computeActions.restart(node, store.options);
    };
    const start = (number: number, fields = {}) =>
      operationRecord(number, { created_at: `2026-01-01T00:00:0${number - 1}Z`, ...fields });

    beforeEach(() => {
      operations = [start(1, { status: 'finished' })];
    });

    it('finds one that has ended by its operations', async () => {
      const { isPending } = await restart(() => operations.unshift(start(2, { status: 'finished' })));
      assert.equal(isPending, false);
    });

    it('follows the operations of one that continues', async () => {
      const { isPending } = await restart(() => {
        computes = [computeRecord('ep-one', { pending_state: 'active' })];
        operations.unshift(start(2));
      });
      assert.equal(isPending, true);
      assert.equal(store.tracker.pending[0]?.verb, 'restart');
    });

    for (const [what, fields] of [
      ['of another compute', { endpoint_id: 'ep-two' }],
      ['for a connection', { triggered_by: 'connection' }],
      ['that suspends it', { action: 'suspend_compute' }],
    ] as const)
      it(`isn't deceived by an operation ${what}`, async () => {
        const restarting = restart(() => {
          computes = [computeRecord('ep-one', { pending_state: 'active' })];
          operations.unshift(start(2, fields));
        });
        await assert.rejects(restarting, /status 504/);
      });

    it('compares when it was started if the service lists no operations', async () => {
      const restarted = (fields: object) => {
        replyToChanges(() => {
          computes = [computeRecord('ep-one', fields)];
          return 504;
        });
        return store.computeActions.restart(node, store.options);
      };
      const pending = { pending_state: 'active' };
      await restarted({ started_at: '2026-01-01T00:00:00Z' });
      await assert.rejects(restarted({ started_at: '2026-01-01T00:00:00Z' }), /status 504/);
      await restarted({ started_at: '2026-01-01T00:00:00Z', ...pending });
      await assert.rejects(restarted({ started_at: '2026-01-01T00:00:00Z', ...pending }), /status 504/);
    });
  });
});
