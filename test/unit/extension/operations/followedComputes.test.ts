import assert from 'node:assert/strict';
import type { Operation } from '../../../../src/api/records/records.ts';
import { RequestBudget } from '../../../../src/extension/inventory/refresh/requestBudget.ts';
import { connectModel } from '../../../helpers/connectedModel.ts';
import { computeRecord, operationRecord, scriptService } from '../../../helpers/scriptedService.ts';
import { until } from '../../../workbench/until.ts';

describe('A compute is followed', () => {
  const compute = computeRecord('ep-one', { branch_id: 'br-one' });
  for (const [what, target, expected] of [
    ['by its own change', { computeId: 'ep-one' }, true],
    ['by a change of its branch', { branchId: 'br-one' }, true],
    ['by a change of its project', {}, true],
    ['not by a change of another compute', { computeId: 'ep-two' }, false],
    ['not by a change of another branch', { branchId: 'br-two' }, false],
    ['not by a change in another project', { computeId: 'ep-one', projectId: 'blog' }, false],
  ] as const)
    it(what, async () => {
      const { tracker } = await connectModel(await scriptService(() => ({ endpoints: [] })));
      tracker.follow('edit', { projectId: 'shop', ...target }, [operationRecord(1) as Operation]);
      assert.equal(tracker.isFollowing(compute), expected);
    });
});

describe('An operation tracker', () => {
  it('polls at once when another change begins', async () => {
    const { clock, tracker } = await connectModel(await scriptService(() => ({ endpoints: [] })));
    const follow = (id: number) =>
      tracker.follow('edit', { projectId: 'shop' }, [operationRecord(id) as Operation]);
    follow(1);
    await clock.turn();
    follow(2);
    assert.deepEqual(clock.waits, [0]);
  });

  it('polls a recent change of a service on this machine four times a second', async () => {
    const starting = computeRecord('ep-one', { current_state: 'init' });
    const budget = new RequestBudget({ isUnlimited: () => true });
    const service = await scriptService(() => ({ endpoints: [starting] }));
    const { clock, tracker } = await connectModel(service, { budget });
    tracker.follow('create', { projectId: 'shop', computeId: 'ep-one' }, [operationRecord(1) as Operation]);
    clock.next();
    await until('the next tick', async () => clock.waits[0] === 250);
  });

  it('reports nothing after its end', async () => {
    const { tracker } = await connectModel(await scriptService(() => ({ endpoints: [] })));
    const follow = () => tracker.follow('edit', { projectId: 'shop' }, [operationRecord(1) as Operation]);
    let reports = 0;
    tracker.onDidChange(() => (reports += 1));
    follow();
    assert.equal(reports, 1);
    tracker.dispose();
    follow();
    assert.equal(reports, 1);
  });
});
