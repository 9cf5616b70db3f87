import assert from 'node:assert/strict';
import { ownIdentity } from '../../../src/base/processIdentity.ts';
import { isAbandonedCopy } from '../../../src/rehearsal/abandonedCopies.ts';

describe('isAbandonedCopy', () => {
  const isAbandoned = async (maker: unknown, name = 'rehearsal-1') =>
    isAbandonedCopy({ name, maker: typeof maker === 'string' ? maker : JSON.stringify(maker) });
  const ended = { pid: process.pid, startedAt: 1, uniqueId: 'another' };

  it('is true for a copy whose process has ended', async () => {
    assert.equal(await isAbandoned(ended), true);
    assert.equal(await isAbandoned(ownIdentity()), false);
    assert.equal(await isAbandoned({ ...ended, host: 'another' }), false);
    assert.equal(await isAbandoned(ended, 'main'), false);
  });

  it('is false for a branch whose annotation names no process', async () => {
    for (const maker of ['x', '', 'null', '1', '{}', { ...ended, pid: 'x' }, { ...ended, pid: -1 }])
      assert.equal(await isAbandoned(maker), false, JSON.stringify(maker));
  });
});
