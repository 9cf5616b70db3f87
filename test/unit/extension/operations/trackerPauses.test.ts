import assert from 'node:assert/strict';
import { connectScripted } from '../../../helpers/connectedModel.ts';
import { operationRecord } from '../../../helpers/scriptedService.ts';
import { until } from '../../../workbench/until.ts';

describe('OperationTracker', () => {
  it('keeps an old change if the key is changed during a request', async () => {
    const { promise: reply, resolve } = Promise.withResolvers<unknown>();
    const { tracker, clock, service, accounts, account } = await connectScripted(() => reply);
    tracker.follow('create', { computeId: 'ep-one', projectId: 'shop' }, [operationRecord(1)]);
    clock.pass(15 * 60_000);
    clock.next();
    await until('the request', async () => service.requests.length > 0);
    await accounts.add(account, 'another-key');
    await until('another request', async () => {
      if (clock.waits.length > 0) clock.next();
      return tracker.pending.length === 0 || service.requests.length === 2;
    });
    assert.equal(tracker.pending.length, 1);
    resolve(404);
  });

  it('ends a pause after failures with another key', async () => {
    const { tracker, clock, accounts, account, session } = await connectScripted(() => 401);
    tracker.follow('create', { computeId: 'ep-one', projectId: 'shop' }, [operationRecord(1)]);
    for (let turns = 0; turns < 4; turns += 1) await clock.turn();
    assert.deepEqual(clock.waits, [16_000]);
    await accounts.add(account, 'another-key');
    await session.reread();
    assert.deepEqual(clock.waits, [0]);
  });
});
