import assert from 'node:assert/strict';
import { keepUnlessRejected } from '../../../../src/extension/window/keepUnlessRejected.ts';

describe('keepUnlessRejected', () => {
  it('creates once, also for callers at the same time', async () => {
    let created = 0;
    const get = keepUnlessRejected(async () => (created += 1));
    assert.deepEqual([...(await Promise.all([get(), get()])), await get()], [1, 1, 1]);
  });

  it('tries again after a failure, which all callers at the time receive', async () => {
    let calls = 0;
    const get = keepUnlessRejected(async () => {
      calls += 1;
      if (calls === 1) throw new Error('no file');
      return calls;
    });
    const results = await Promise.allSettled([get(), get()]);
    assert.deepEqual(
      results.map(({ status }) => status),
      ['rejected', 'rejected'],
    );
    assert.deepEqual([await get(), await get()], [2, 2]);
  });
});
