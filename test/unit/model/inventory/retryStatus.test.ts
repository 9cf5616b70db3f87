import assert from 'node:assert/strict';
import { RetryStatus } from '../../../../src/model/inventory/retryStatus.ts';

const wait = { status: 503, attempt: 1, milliseconds: 100 };

describe('RetryStatus', () => {
  it('reports a retried call once, until its end', async () => {
    const waits = new RetryStatus();
    const told: (number | undefined)[] = [];
    waits.onDidChange(() => told.push(waits.current?.status));
    const answer = await waits.during(async (onWait) => {
      onWait(wait);
      onWait({ ...wait, attempt: 2 });
      return 'done';
    });
    assert.equal(answer, 'done');
    assert.deepEqual(told, [503, undefined]);
  });

  it('ends with a failed call, and ignores calls without a retry', async () => {
    const waits = new RetryStatus();
    let told = 0;
    waits.onDidChange(() => (told += 1));
    await waits.during(async () => 'done');
    assert.equal(told, 0);
    const failing = waits.during(async (onWait) => {
      onWait(wait);
      throw new Error('down');
    });
    await assert.rejects(failing, /down/);
    assert.equal(waits.current, undefined);
  });
});
