import assert from 'node:assert/strict';
import { ConnectionClosedError } from '../../../../src/extension/window/changeErrors.ts';
import { finishChange } from '../../../../src/extension/operations/finishChange.ts';
import { connectScripted } from '../../../helpers/connectedModel.ts';
import { computeRecord, operationRecord } from '../../../helpers/scriptedService.ts';

describe('finishChange', () => {
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
