import assert from 'node:assert/strict';
import { FakeClock } from '../../../helpers/fakeClock.ts';
import { RetryStatus } from '../../../../src/extension/inventory/retryStatus.ts';

const statusOf = ({ current }: RetryStatus) => (current === 'slow' ? 0 : current?.status);

const wait = { status: 503, attempt: 1, delay: 100 };

describe('RetryStatus', () => {
  it('reports a retried call once, until its end', async () => {
    const status = new RetryStatus();
    const reported: (number | undefined)[] = [];
    status.onDidChange(() => reported.push(statusOf(status)));
    const answer = await status.track(async (onRetry) => {
      onRetry(wait);
      onRetry({ ...wait, attempt: 2 });
      return 'done';
    });
    assert.equal(answer, 'done');
    assert.deepEqual(reported, [503, undefined]);
  });

  it('ends when a retry has succeeded, although the call continues', async () => {
    const status = new RetryStatus();
    const reported: (number | undefined)[] = [];
    status.onDidChange(() => reported.push(statusOf(status)));
    await status.track(async (onRetry) => {
      onRetry(undefined);
      onRetry(wait);
      onRetry(undefined);
      assert.deepEqual(reported, [503, undefined]);
    });
    assert.deepEqual(reported, [503, undefined]);
  });

  it('ignores a report after the end of the call', async () => {
    const status = new RetryStatus();
    let report: ((late: typeof wait) => void) | undefined;
    await status.track(async (onRetry) => void (report = onRetry));
    status.onDidChange(() => assert.fail('no change'));
    report?.(wait);
    assert.equal(status.current, undefined);
  });

  it('shows the reason of the oldest retried call', async () => {
    const status = new RetryStatus();
    const first = Promise.withResolvers<void>();
    const running = status.track(async (onRetry) => {
      onRetry(wait);
      await first.promise;
    });
    await status.track(async (onRetry) => {
      onRetry({ ...wait, status: 429 });
      assert.equal(statusOf(status), 503);
    });
    assert.equal(statusOf(status), 503);
    status.dispose();
    assert.equal(status.current, undefined);
    first.resolve();
    await running;
  });

  it('ends with a failed call, and ignores calls without a retry', async () => {
    const status = new RetryStatus();
    let reported = 0;
    status.onDidChange(() => (reported += 1));
    await status.track(async () => 'done');
    assert.equal(reported, 0);
    const failing = status.track(async (onRetry) => {
      onRetry(wait);
      throw new Error('down');
    });
    await assert.rejects(failing, /down/);
    assert.equal(status.current, undefined);
  });

  it('reports a call without a reply after 10 seconds, and again after the reply to a part of it', async () => {
    const clock = new FakeClock();
    const status = new RetryStatus(clock);
    let reported = 0;
    status.onDidChange(() => (reported += 1));
    const reply = Promise.withResolvers<void>();
    let report: ((retry: undefined) => void) | undefined;
    const running = status.track(async (onRetry) => {
      report = onRetry;
      await reply.promise;
    });
    assert.equal(clock.next(), 10_000);
    assert.deepEqual([status.current, reported], ['slow', 1]);
    report?.(undefined);
    assert.deepEqual([status.current, reported], [undefined, 2]);
    assert.equal(clock.next(), 10_000);
    assert.equal(status.current, 'slow');
    reply.resolve();
    await running;
    assert.deepEqual([status.current, reported, clock.waits], [undefined, 4, []]);
  });

  it('leaves no timer behind a call that ends or is retried', async () => {
    const clock = new FakeClock();
    const status = new RetryStatus(clock);
    await status.track(async (onRetry) => {
      onRetry(wait);
      assert.deepEqual(clock.waits, []);
    });
    await assert.rejects(status.track(async () => Promise.reject(new Error('down'))));
    assert.deepEqual(clock.waits, []);
  });
});
