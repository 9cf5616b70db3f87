import { answers } from '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { accountId } from '../../../../../src/extension/account/accounts.ts';
import type { CommandContext } from '../../../../../src/extension/commandSupport/context.ts';
import { connectScripted } from '../../../../helpers/connectedModel.ts';
import { operationRecord } from '../../../../helpers/scriptedService.ts';
import { until } from '../../../../workbench/until.ts';

const { deleteBranches } = await import('../../../../../src/extension/branches/commands/deleteBranches.ts');

describe('deleteBranches', () => {
  for (const [status, isForgotten] of [
    ['finished', true],
    ['failed', false],
  ] as const)
    it(`${isForgotten ? 'forgets' : 'still knows'} a branch whose deletion has ${status}`, async () => {
      const branch = { id: 'br-task', name: 'task', parent_id: 'br-main' };
      let hasEnded = false;
      const model = await connectScripted((call) => {
        if (call === 'GET /projects') return { projects: [{ id: 'shop', name: 'Shop' }] };
        const ended = hasEnded ? { status } : {};
        const operation = operationRecord(1, { endpoint_id: undefined, branch_id: 'br-task', ...ended });
        if (call.includes('/operations/')) return { operation };
        return { branch, branches: [branch], endpoints: [], operations: [operation] };
      });
      let forgotten = 0;
      const ref = { account: accountId(model.account), projectId: 'shop', branchId: 'br-task' };
      const each = { ref, title: 'task', forget: async () => void forgotten++ };
      const run = { initialConnection: model.session.connection, failureMessage: '' };
      answers.push('Delete');
      const errors: unknown[] = [];
      const log = { error: (...error: unknown[]) => void errors.push(error) };
      const context = { ...model, log } as unknown as CommandContext;
      await deleteBranches(context, run, [each], async () => [each]);
      assert.equal(forgotten, 0);
      hasEnded = true;
      const end = new Promise((resolve) => model.tracker.onDidEnd(resolve));
      await until('a poll', async () => {
        if (model.clock.waits.length > 0) model.clock.next();
        return model.tracker.pending.length === 0;
      });
      await end;
      await new Promise(setImmediate);
      assert.deepEqual([forgotten, errors], [isForgotten ? 1 : 0, []]);
    });
});
