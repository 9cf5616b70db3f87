import assert from 'node:assert/strict';
import type { Operation } from '../../../../src/api/records/records.ts';
import { BackgroundRefresh } from '../../../../src/extension/inventory/refresh/backgroundRefresh.ts';
import { RequestBudget } from '../../../../src/extension/inventory/refresh/requestBudget.ts';
import { connectModel } from '../../../helpers/connectedModel.ts';
import { computeRecord, operationRecord, scriptService } from '../../../helpers/scriptedService.ts';
import { until } from '../../../workbench/until.ts';

describe('the stores', () => {
  it('leave no timer, listener or request after disposal, even in the middle of one', async () => {
    const service = await scriptService(() => ({ endpoints: [computeRecord('ep-one')] }));
    const store = await connectModel(service);
    const refresh = new BackgroundRefresh({
      inventory: store.inventory,
      expanded: () => ['shop'],
      polledElsewhere: () => store.tracker.projects,
      interval: () => 60_000,
      onError: (error) => store.errors.push(error),
      budget: new RequestBudget({ clock: store.clock }),
      clock: store.clock,
    });
    refresh.setVisible(true);
    store.tracker.follow('restart', { computeId: 'ep-one', projectId: 'shop' }, [
      operationRecord(1) as Operation,
    ]);
    assert.equal(store.clock.waits.length, 2);
    assert.ok(store.secrets.listeners > 0);

    const never = Promise.withResolvers<unknown>();
    service.script = () => never.promise;
    const asked = store.inventory.refreshComputes('shop');
    await until('the request', async () => service.requests.length > 0);
    refresh.dispose();
    store.dispose();

    await assert.rejects(asked, /cancelled/);
    assert.deepEqual(store.clock.waits, []);
    assert.equal(store.secrets.listeners, 0);
  });

  it('report no retry after disposal', async () => {
    const store = await connectModel(await scriptService(() => 500));
    const { inventory } = store;
    let fired = 0;
    inventory.retryStatus.onDidChange(() => (fired += 1));
    store.dispose();
    await inventory.retryStatus.track(async (onRetry) => onRetry({ reason: 'x' } as never));
    assert.equal(fired, 0);
  });
});
