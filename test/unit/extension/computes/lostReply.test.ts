import assert from 'node:assert/strict';
import type { ComputeNode } from '../../../../src/extension/inventory/nodes.ts';
import type { ChangeEnd } from '../../../../src/extension/operations/pendingChange.ts';
import { connectScripted, type ScriptedModel } from '../../../helpers/connectedModel.ts';
import { until } from '../../../workbench/until.ts';
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
      const { pendingId } = await restart(() => operations.unshift(start(2, { status: 'finished' })));
      assert.equal(pendingId, undefined);
    });

    it('follows the operations of one that continues', async () => {
      const { pendingId } = await restart(() => {
        computes = [computeRecord('ep-one', { pending_state: 'active' })];
        operations.unshift(start(2));
      });
      assert.deepEqual(
        store.tracker.pending.map(({ id, verb }) => [id, verb]),
        [[pendingId, 'restart']],
      );
    });

    it('follows one whose operations can not be read by the lists alone', async () => {
      operations = [];
      store.service.script = (call) => {
        if (call.includes('/operations')) return 502;
        if (call.startsWith('GET')) return { endpoints: computes };
        computes = [computeRecord('ep-one', { pending_state: 'active', updated_at: '2026-01-01T00:00:01Z' })];
        return 504;
      };
      const ends: ChangeEnd[] = [];
      store.tracker.onDidEnd((end) => ends.push(end));
      const { pendingId } = await store.computeActions.restart(node, store.options);
      assert.equal(store.tracker.pending[0]?.id, pendingId ?? assert.fail());
      computes = [computeRecord('ep-one', { updated_at: '2026-01-01T00:00:02Z' })];
      store.service.script = (call) => (call.includes('/operations') ? 502 : { endpoints: computes });
      await until('the end', async () => {
        store.clock.advance(1000);
        return ends.length > 0;
      });
      assert.equal(ends[0]?.outcome, 'finished');
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
