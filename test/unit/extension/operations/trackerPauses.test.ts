import assert from 'node:assert/strict';
import { connectScripted } from '../../../helpers/connectedModel.ts';
import { operationRecord } from '../../../helpers/scriptedService.ts';

describe('A pause of OperationTracker after failures', () => {
  it('ends with another key', async () => {
    const { tracker, clock, accounts, account, session } = await connectScripted(() => 401);
    tracker.follow('create', { computeId: 'ep-one', projectId: 'shop' }, [operationRecord(1)]);
    for (let turns = 0; turns < 4; turns += 1) await clock.turn();
    assert.deepEqual(clock.waits, [16_000]);
    await accounts.add(account, 'another key');
    await session.reread();
    assert.deepEqual(clock.waits, [0]);
  });
});
