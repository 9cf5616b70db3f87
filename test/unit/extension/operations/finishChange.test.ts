import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { ConnectionClosedError } from '../../../../src/extension/window/changeErrors.ts';
import { Emitter } from '../../../../src/base/event.ts';
import type { Branch } from '../../../../src/api/records/records.ts';
import type { ChangeEnd, PendingChange } from '../../../../src/extension/operations/pendingChange.ts';
import { finishChange } from '../../../../src/extension/operations/finishChange.ts';
import { connectScripted } from '../../../helpers/connectedModel.ts';
import { computeRecord, operationRecord } from '../../../helpers/scriptedService.ts';

describe('finishChange', () => {
  it('is not ended by an earlier change of the same branch', async () => {
    const ended = new Emitter<ChangeEnd>();
    const branch = { id: 'br-dev', name: 'dev' } as Branch;
    const end = (id: string) =>
      ended.fire({ change: { id, branchId: branch.id } as PendingChange, outcome: 'finished' });
    let isFinished = false;
    const finished = finishChange({ onDidEnd: ended.event }, undefined, async () => {
      end('the reset before');
      return { branch, pendingId: 'the undo' };
    }).then((result) => ((isFinished = true), result));
    await setImmediate();
    end('another reset');
    await setImmediate();
    assert.equal(isFinished, false);
    end('the undo');
    assert.deepEqual(await finished, { branch, pendingId: undefined });
  });

  it('ends when the account is switched, because the operations of the other account are no longer polled', async () => {
    const starting = computeRecord('ep-one', { pending_state: 'active' });
    const model = await connectScripted((call) =>
      call.endsWith('/start')
        ? { endpoint: starting, operations: [operationRecord(1)] }
        : { endpoints: [starting] },
    );
    await model.inventory.loadComputes('shop');
    const node = {
      kind: 'compute',
      projectId: 'shop',
      branchId: starting.branch_id,
      computeId: starting.id,
    } as const;
    const { promise: sent, resolve } = Promise.withResolvers<void>();
    const finished = finishChange(model.tracker, model.session.connection, async () => {
      const result = await model.computeActions.start(node, model.options);
      resolve();
      return result;
    });
    await sent;
    await model.accounts.choose(undefined);
    const late = new Promise((end) => setTimeout(end, 500, 'still waits'));
    await assert.rejects(Promise.race([finished, late]), ConnectionClosedError);
  });
});
