import assert from 'node:assert/strict';
import { parseDelay } from '../../../../src/extension/window/delay.ts';

const LIMITS = { min: 60, max: 7 * 24 * 60 * 60 };

const secondsOf = (text: string) => {
  const delay = parseDelay(text, LIMITS);
  return delay !== undefined && 'seconds' in delay ? delay.seconds : undefined;
};

describe('parseDelay', () => {
  it('reads seconds, minutes, hours and days', () => {
    const typed = ['90 s', '20 min', '3h', '2 days', '1.5 h', '0,5 h', '7d', '60s'];
    assert.deepEqual(typed.map(secondsOf), [90, 1200, 10_800, 172_800, 5400, 1800, 604_800, 60]);
  });

  it('takes a number without a unit as minutes', () => {
    assert.equal(secondsOf(' 45 '), 2700);
  });

  it('rejects what is outside the limits', () => {
    assert.deepEqual(parseDelay('59 s', LIMITS), { problem: 'tooShort' });
    assert.deepEqual(parseDelay('0', LIMITS), { problem: 'tooShort' });
    assert.deepEqual(parseDelay('604801 s', LIMITS), { problem: 'tooLong' });
    assert.deepEqual(parseDelay('9999999 d', LIMITS), { problem: 'tooLong' });
  });

  it('returns undefined for other text', () => {
    for (const text of ['', 'never', '5 parsecs', '-5', '1e9', '12345678 s', '1 h 30 min'])
      assert.equal(parseDelay(text, LIMITS), undefined, text);
  });
});
