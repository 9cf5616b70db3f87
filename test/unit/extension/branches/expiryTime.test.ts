import assert from 'node:assert/strict';
import {
  expiryAfter,
  GIT_BRANCH_LIFETIME,
  needsRenewal,
} from '../../../../src/extension/branches/expiryTime.ts';

describe('The lifetime of a branch', () => {
  const now = Date.parse('2026-01-01T00:00:00.250Z');

  it('ends without fractions of a second', () => {
    assert.equal(expiryAfter(GIT_BRANCH_LIFETIME, now), '2026-01-08T00:00:00Z');
  });

  it('is renewed once less than half of it is left, unless it has ended', () => {
    const days = [7, 4, 3, 0.1, -1].map((left) => needsRenewal(expiryAfter(left * 86_400, now), now));
    assert.deepEqual(days, [false, false, true, true, false]);
    const end = '2026-01-08T00:00:00Z';
    const half = GIT_BRANCH_LIFETIME / 2;
    const seconds = [half, half - 1, 1, 0].map((left) => needsRenewal(end, Date.parse(end) - left * 1000));
    assert.deepEqual(seconds, [false, true, true, false]);
    assert.equal(needsRenewal('never', now), false);
  });
});
