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

  it('ignores a report after the end of the call', async () => {
    const status = new RetryStatus();
    let report: ((late: typeof wait) => void) | undefined;
    await status.during(async (onWait) => void (report = onWait));
    status.onDidChange(() => assert.fail('no change'));
    report?.(wait);
    assert.equal(status.current, undefined);
  });

  it('shows the reason of the oldest retried call', async () => {
    const status = new RetryStatus();
    const first = Promise.withResolvers<void>();
    const running = status.during(async (onWait) => {
      onWait(wait);
      await first.promise;
    });
    await status.during(async (onWait) => {
      onWait({ ...wait, status: 429 });
      assert.equal(status.current?.status, 503);
    });
    assert.equal(status.current?.status, 503);
    status.dispose();
    assert.equal(status.current, undefined);
    first.resolve();
    await running;
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
