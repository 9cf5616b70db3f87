import assert from 'node:assert/strict';
import { limitConcurrency } from '../../../src/base/limitConcurrency.ts';

describe('limitConcurrency', () => {
  it('limits how many tasks run at once, and keeps their order', async () => {
    const limited = limitConcurrency(2);
    const order: number[] = [];
    let running = 0;
    let maxRunning = 0;
    const task = (number: number) => async () => {
      order.push(number);
      maxRunning = Math.max(maxRunning, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
    };
    for (const numbers of [
      [0, 1, 2],
      [3, 4, 5],
    ])
      await Promise.all(numbers.map((number) => limited(task(number))));
    assert.equal(maxRunning, 2);
    assert.deepEqual(order, [0, 1, 2, 3, 4, 5]);
  });

  it('runs the next task when one fails', async () => {
    const limited = limitConcurrency(1);
    const failing = limited(() => Promise.reject(new Error('no')));
    const next = limited(() => Promise.resolve('done'));
    await assert.rejects(failing);
    assert.equal(await next, 'done');
  });

  it('runs a task that comes after all others have ended', async () => {
    const limited = limitConcurrency(1);
    assert.equal(await limited(async () => 'first'), 'first');
    assert.equal(await limited(async () => 'second'), 'second');
  });
});
