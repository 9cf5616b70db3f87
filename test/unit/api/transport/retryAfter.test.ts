import assert from 'node:assert/strict';
import { LONGEST_RETRY_AFTER, parseRetryAfter } from '../../../../src/api/transport/retryAfter.ts';

const DATE = 'Wed, 21 Oct 2026 07:28:00 GMT';

describe('Retry-After', () => {
  const rows: readonly [string, Record<string, string>, number | undefined][] = [
    ['seconds', { 'retry-after': '7' }, 7],
    ['no time', { 'retry-after': '0' }, 0],
    ['a part of a second', { 'retry-after': '0.5' }, 0.5],
    [
      'a date, by the clock of the service',
      { 'retry-after': DATE, date: 'Wed, 21 Oct 2026 07:27:30 GMT' },
      30,
    ],
    ['a date that has passed', { 'retry-after': DATE, date: 'Wed, 21 Oct 2026 08:00:00 GMT' }, 0],
    ['a year', { 'retry-after': '31536000' }, LONGEST_RETRY_AFTER],
    ['more than a timer holds', { 'retry-after': '9'.repeat(400) }, LONGEST_RETRY_AFTER],
    ['a far date', { 'retry-after': 'Fri, 31 Dec 9999 23:59:59 GMT', date: DATE }, LONGEST_RETRY_AFTER],
    ['nothing', {}, undefined],
    ['an empty text', { 'retry-after': '' }, undefined],
    ['words', { 'retry-after': 'soon' }, undefined],
    ['a negative number', { 'retry-after': '-5' }, undefined],
    ['another notation', { 'retry-after': '1e3' }, undefined],
  ];
  for (const [what, headers, seconds] of rows) {
    it(`${what}: ${seconds}`, () => assert.equal(parseRetryAfter(new Headers(headers)), seconds));
  }

  it('as a date is measured by our clock when the service does not tell its own', () => {
    const inTenSeconds = new Date(Date.now() + 10_000).toUTCString();
    const seconds = parseRetryAfter(new Headers({ 'retry-after': inTenSeconds })) ?? 0;
    assert.ok(seconds >= 9 && seconds <= 10, String(seconds));
  });
});
