import assert from 'node:assert/strict';
import { Poller, type PollerOptions } from '../../../src/base/poller.ts';
import { until } from '../../workbench/until.ts';
import { FakeClock } from '../../helpers/fakeClock.ts';

describe('Poller', () => {
  let clock: FakeClock;
  let runs: number;

  beforeEach(() => {
    clock = new FakeClock();
    runs = 0;
  });

  const poller = (options: Partial<PollerOptions>, firstDelay = 0) =>
    new Poller(
      {
        poll: async () => void (runs += 1),
        interval: () => 1000,
        maxDelay: 60_000,
        clock,
        random: () => 1,
        ...options,
      },
      firstDelay,
    );

  it('waits the interval from the end of one run to the start of the next', async () => {
    poller({}, 300);
    assert.equal(await clock.turn(), 300);
    assert.equal(await clock.turn(), 1000);
    assert.equal(runs, 2);
  });

  it('never has two runs at a time, and runs again at once when requested during one', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    let running = 0;
    let maxRunning = 0;
    const poll = async () => {
      runs += 1;
      maxRunning = Math.max(maxRunning, ++running);
      if (runs === 1) await promise;
      running -= 1;
    };
    const polling = poller({ poll });
    clock.next();
    polling.runNow();
    polling.runNow();
    assert.deepEqual(clock.waits, []);
    resolve();
    await until('the second run to be due', async () => clock.waits.length > 0);
    assert.deepEqual(clock.waits, [0]);
    await clock.turn();
    assert.equal(runs, 2);
    assert.equal(maxRunning, 1);
  });

  it('doubles the pause with each consecutive failure, up to the longest, and resets it after a success', async () => {
    let fails = true;
    const poll = async () => {
      if (fails) throw new Error('down');
    };
    poller({ poll, maxDelay: 5000 });
    await clock.turn();
    const pauses = [await clock.turn(), await clock.turn(), await clock.turn()];
    assert.deepEqual(pauses, [2000, 4000, 5000]);
    fails = false;
    await clock.turn();
    assert.deepEqual(clock.waits, [1000]);
  });

  it('spreads the pause after a failure over the upper half', async () => {
    const poll = () => Promise.reject(new Error('down'));
    poller({ poll, random: () => 0 });
    await clock.turn();
    assert.deepEqual(clock.waits, [1000]);
  });

  it('waits as long as the service asks, not its own pause', async () => {
    poller({ poll: () => Promise.reject(new Error('busy')), retryAfter: () => 90_000 });
    await clock.turn();
    assert.deepEqual(clock.waits, [90_000]);
  });

  it('reports failures and continues', async () => {
    const errors: unknown[] = [];
    const failure = new Error('down');
    poller({ poll: () => Promise.reject(failure), onError: (error) => errors.push(error) });
    await clock.turn();
    await clock.turn();
    assert.deepEqual(errors, [failure, failure]);
  });

  it('does not run again after it is disposed, even during a run', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const polling = poller({ poll: () => promise });
    clock.next();
    polling.dispose();
    resolve();
    await promise;
    await new Promise((settled) => setImmediate(settled));
    polling.runNow();
    polling.reschedule();
    assert.deepEqual(clock.waits, []);
  });

  it('runs at once when requested during a pause, and then waits the interval', async () => {
    const polling = poller({}, 300);
    polling.runNow();
    assert.deepEqual(clock.waits, [0]);
    await clock.turn();
    assert.deepEqual(clock.waits, [1000]);
    polling.dispose();
    assert.deepEqual(clock.waits, []);
  });

  it('waits the interval after a run that was requested during another', async () => {
    const first = Promise.withResolvers<void>();
    const polling = poller({ poll: () => ((runs += 1) === 1 ? first.promise : Promise.resolve()) });
    clock.next();
    polling.runNow();
    polling.reschedule();
    first.resolve();
    await until('the second run to be due', async () => clock.waits.length > 0);
    assert.equal(await clock.turn(), 0);
    assert.deepEqual(clock.waits, [1000]);
  });

  it('does not restart the pause during a run', async () => {
    const first = Promise.withResolvers<void>();
    const polling = poller({ poll: () => first.promise });
    clock.next();
    polling.reschedule();
    assert.deepEqual(clock.waits, []);
    first.resolve();
    await until('the next run to be due', async () => clock.waits.length > 0);
    polling.dispose();
  });

  it('does not report a run that fails after it was disposed', async () => {
    const first = Promise.withResolvers<void>();
    const errors: unknown[] = [];
    const polling = poller({ poll: () => first.promise, onError: (error) => errors.push(error) });
    clock.next();
    polling.dispose();
    first.reject(new Error('late'));
    await new Promise((settled) => setImmediate(settled));
    assert.deepEqual(errors, []);
  });

  it('restarts the pause when the interval has changed, but not after a failure', async () => {
    let interval = 60_000;
    let fails = false;
    const poll = async () => {
      if (fails) throw new Error('down');
    };
    const polling = poller({ poll, interval: () => interval });
    await clock.turn();
    interval = 2000;
    polling.reschedule();
    assert.deepEqual(clock.waits, [2000]);
    fails = true;
    await clock.turn();
    polling.reschedule();
    assert.deepEqual(clock.waits, [4000]);
  });
});
