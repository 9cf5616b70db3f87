import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { CommitTimeCheck } from '../../../../../src/service/postgres/wal/commitTimeCheck.ts';

describe('CommitTimeCheck', () => {
  afterEach(() => mock.timers.reset());

  it('counts a transaction that has ended in this millisecond, and none of the future', () => {
    mock.timers.enable({ apis: ['Date'], now: 5000 });
    const check = new CommitTimeCheck(Infinity, 100);
    check.add({ time: 5_000_300, end: 200 });
    assert.equal(check.position, 200);
    check.add({ time: 5_002_000, end: 300 });
    assert.equal(check.position, 200);
  });
});
