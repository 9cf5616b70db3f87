import assert from 'node:assert/strict';
import { pause, systemClock } from '../../../src/base/clock.ts';
import { delay, callEvery } from '../../../src/service/core/serviceClock.ts';
import { FakeClock } from '../../helpers/fakeClock.ts';

describe('systemClock', () => {
  it('has the time of day, and moves forward when the clock of the machine is set', async () => {
    const { now } = Date;
    const before = systemClock.now();
    assert.ok(Math.abs(before - now()) < 60_000);
    await pause(2);
    try {
      for (const jump of [-3_600_000, 86_400_000]) {
        Date.now = () => now() + jump;
        const passed = systemClock.now() - before;
        assert.ok(passed > 0 && passed < 60_000, `${passed} ms`);
      }
    } finally {
      Date.now = now;
    }
  });

  it('runs a function after a time unless it is disposed', async () => {
    const ran: string[] = [];
    systemClock.after(1, () => ran.push('disposed')).dispose();
    await new Promise<void>((resolve) => {
      systemClock.after(5, () => {
        ran.push('kept');
        resolve();
      });
    });
    assert.deepEqual(ran, ['kept']);
  });
});

describe('pause', () => {
  it('waits for the given time', async () => {
    const clock = new FakeClock();
    const pausing = pause(300, clock);
    assert.equal(clock.next(), 300);
    await pausing;
  });
});

describe('delay and every', () => {
  it('end with the time, at once if the signal is aborted, and leave no timer', async () => {
    const clock = new FakeClock();
    const abort = new AbortController();
    const delays = [delay(clock, 0), delay(clock, 20), delay(clock, 30, abort.signal)];
    assert.deepEqual(clock.waits, [20, 30]);
    clock.advance(20);
    abort.abort();
    await Promise.all([...delays, delay(clock, 10, abort.signal)]);
    assert.deepEqual(clock.waits, []);
  });

  it('call at each interval, also after the machine’s time was set, until stopped', () => {
    const clock = new FakeClock(1000);
    const calls: number[] = [];
    const stop = callEvery(clock, 10, () => {
      calls.push(clock.now());
      if (calls.length === 4) stop();
    });
    clock.advance(25);
    clock.set(5);
    clock.advance(100);
    assert.deepEqual(calls, [1010, 1020, 10, 20]);
    assert.deepEqual(clock.waits, []);
  });
});
