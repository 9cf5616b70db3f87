import assert from 'node:assert/strict';
import { autosuspendSeconds, isAutosuspendDelay } from '../../../../src/api/rules/autosuspendDelay.ts';

describe('autosuspend delay', () => {
  const rows = [
    [0, true],
    [-1, true],
    [60, true],
    [300, true],
    [604_800, true],
    [59, false],
    [1, false],
    [-2, false],
    [604_801, false],
    [90.5, false],
    [Number.NaN, false],
    [Number.POSITIVE_INFINITY, false],
  ] as const;
  for (const [seconds, isGood] of rows) {
    it(`${isGood ? 'can' : 'cannot'} be ${seconds}`, () => assert.equal(isAutosuspendDelay(seconds), isGood));
  }

  it('is five minutes by default, never for -1, and otherwise the given seconds', () => {
    assert.equal(autosuspendSeconds(undefined), 300);
    assert.equal(autosuspendSeconds(0), 300);
    assert.equal(autosuspendSeconds(-1), undefined);
    assert.equal(autosuspendSeconds(3600), 3600);
  });
});
