import assert from 'node:assert/strict';
import { pause, systemClock } from '../../../src/base/clock.ts';
import { FakeClock } from '../../helpers/fakeClock.ts';

describe('systemClock', () => {
  it('has the milliseconds since 1970', () => {
    const difference = Math.abs(systemClock.now() - Date.now());
    assert.ok(difference < 60_000, String(difference));
  });

  it('moves forward', async () => {
    const before = systemClock.now();
    await pause(2);
    assert.ok(systemClock.now() > before);
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
