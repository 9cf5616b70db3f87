import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { runInBatches } from '../../../../src/service/core/inBatches.ts';

describe('Work in batches', () => {
  it('takes what is added at the same time together, and what is added while a batch runs in the next one', async () => {
    const batches: number[][] = [];
    let release = () => {};
    const add = runInBatches(async (items: readonly number[]) => {
      batches.push([...items]);
      await new Promise<void>((resolve) => (release = resolve));
      return items.length;
    });
    const first = [add(1), add(2)];
    await turn();
    const second = [add(3), add(4), add(5)];
    await turn();
    assert.deepEqual(batches, [[1, 2]]);
    release();
    assert.deepEqual(await Promise.all(first), [2, 2]);
    await turn();
    assert.deepEqual(batches[1], [3, 4, 5]);
    release();
    assert.deepEqual(await Promise.all(second), [3, 3, 3]);
  });

  it('fails only the batch whose work fails', async () => {
    const add = runInBatches(async ([item]: readonly string[]) => {
      if (item === 'bad') throw new Error('failed');
      return item;
    });
    await assert.rejects(add('bad'), /failed/);
    assert.equal(await add('good'), 'good');
  });
});
