import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { ApiError, type ApiFault } from '../../../../src/api/transport/errors.ts';
import { parseRetryAfter, retryDelay } from '../../../../src/api/transport/retry.ts';

const DATE = 'Wed, 21 Oct 2026 07:28:00 GMT';

const limits = { retries: 5, maxDelay: 30_000 };

const response = (status: number, retryAfter?: number, mayHaveExecuted = false) =>
  failed({ kind: 'rejected', status, code: undefined, requestId: undefined, retryAfter }, mayHaveExecuted);
const failed = (fault: ApiFault, mayHaveExecuted: boolean) => new ApiError('x', fault, { mayHaveExecuted });
const network = (code: string) => ({ kind: 'network', code }) as const;

describe('retryDelay', () => {
  type Row = readonly [title: string, method: 'get' | 'change', error: unknown, isRetried: boolean];
  const gets = (isRetried: boolean, ...statuses: number[]): Row[] =>
    statuses.map((status) => [`GET with ${status}`, 'get', response(status), isRetried]);
  const changes = (isRetried: boolean, ...statuses: number[]): Row[] =>
    statuses.map((status) => [
      `change that was not made, with ${status}`,
      'change',
      response(status),
      isRetried,
    ]);
  const rows: readonly Row[] = [
    ...gets(true, 408, 423, 429, 500, 501, 502, 503, 504, 520, 599),
    ...gets(false, 301, 400, 401, 403, 404, 405, 409, 422, 499, 600),
    ...changes(true, 423, 429, 503),
    ...changes(false, 408, 409),
    ...[500, 502, 503, 504, 999].map((status): Row => {
      const error = response(status, undefined, true);
      return [`change that may have been made, with ${status}`, 'change', error, false];
    }),
    ['GET after a reset', 'get', failed(network('ECONNRESET'), true), true],
    ['change after a reset', 'change', failed(network('ECONNRESET'), true), false],
    ['change that was never sent', 'change', failed(network('ECONNREFUSED'), false), true],
    ['GET with an invalid certificate', 'get', failed(network('CERT_HAS_EXPIRED'), false), false],
    ['GET that timed out', 'get', failed({ kind: 'timeout' }, true), true],
    ['change that timed out', 'change', failed({ kind: 'timeout' }, true), false],
    ['GET that was cancelled', 'get', failed({ kind: 'cancelled' }, true), false],
    ['GET after a programming error', 'get', new TypeError('x is not a function'), false],
  ];
  for (const [title, method, error, isRetried] of rows) {
    it(`${isRetried ? 'retries' : 'does not retry'} a ${title}`, () =>
      assert.equal(retryDelay(error, method === 'change', 1, limits) !== undefined, isRetried));
  }

  it('ends after the given number of retries, for 423 after six times as many', () => {
    assert.ok(retryDelay(response(503), false, 5, limits) !== undefined);
    assert.equal(retryDelay(response(503), false, 6, limits), undefined);
    assert.ok(retryDelay(response(423), true, 30, limits) !== undefined);
    assert.equal(retryDelay(response(423), true, 31, limits), undefined);
  });

  it('never retries if there are to be no retries', () => {
    for (const status of [423, 503])
      assert.equal(retryDelay(response(status), false, 1, { retries: 0, maxDelay: 1 }), undefined);
  });

  it('retries only a 423 at a given interval, without end', () => {
    const own = { retries: 0, lockedDelay: 10 };
    assert.equal(retryDelay(response(423, 60), true, 10_000, own), 10);
    assert.equal(retryDelay(response(503), false, 1, own), undefined);
  });

  for (const [random, waits, locked] of [
    [0, [225, 450, 750, 750, 750], 3750],
    [1, [300, 600, 1000, 1000, 1000], 5000],
  ] as const) {
    describe(`with ${random === 0 ? 'the least' : 'the most'} jitter`, () => {
      before(() => mock.method(Math, 'random', () => random));
      after(() => mock.restoreAll());

      it('doubles the wait up to the longest', () =>
        assert.deepEqual(
          [1, 2, 3, 4, 5].map((failures) =>
            retryDelay(response(500), false, failures, { retries: 5, maxDelay: 1000 }),
          ),
          waits,
        ));

      it('keeps the wait short for 423', () =>
        assert.equal(retryDelay(response(423), true, 20, limits), locked));
    });
  }

  const requestedDelays = [
    [503, 0.001, 1],
    [423, 2, 2000],
    [429, 3, 3000],
    [503, 30, 30_000],
    [429, 31, undefined],
    [503, 3600, undefined],
  ] as const;
  for (const [status, seconds, wait] of requestedDelays) {
    it(`${wait === undefined ? 'does not retry' : `waits ${wait} ms after`} ${status} with Retry-After ${seconds}`, () => {
      for (const isChange of [false, true])
        assert.equal(retryDelay(response(status, seconds), isChange, 1, limits), wait);
    });
  }
});

describe('parseRetryAfter', () => {
  const rows: readonly [string, Record<string, string>, number | undefined][] = [
    ['seconds', { 'retry-after': '7' }, 7],
    ['zero', { 'retry-after': '0' }, undefined],
    ['a fraction of a second', { 'retry-after': '0.5' }, 0.5],
    [
      'a date, by the clock of the service',
      { 'retry-after': DATE, date: 'Wed, 21 Oct 2026 06:38:00 GMT' },
      3000,
    ],
    ['a date in the past', { 'retry-after': DATE, date: 'Wed, 21 Oct 2026 08:00:00 GMT' }, undefined],
    ['a year', { 'retry-after': '31536000' }, 3600],
    ['more than a timer can have', { 'retry-after': '9'.repeat(400) }, 3600],
    ['a far date', { 'retry-after': 'Fri, 31 Dec 9999 23:59:59 GMT', date: DATE }, 3600],
    ['nothing', {}, undefined],
    ['an empty text', { 'retry-after': '' }, undefined],
    ['text', { 'retry-after': 'soon' }, undefined],
    ['a negative number', { 'retry-after': '-5' }, undefined],
    ['another notation', { 'retry-after': '1e3' }, undefined],
  ];
  for (const [what, headers, seconds] of rows) {
    it(`${what}: ${seconds}`, () => assert.equal(parseRetryAfter(new Headers(headers)), seconds));
  }

  it('measures a date by this machine if the reply has no date', () => {
    const inTenSeconds = new Date(Date.now() + 10_000).toUTCString();
    const seconds = parseRetryAfter(new Headers({ 'retry-after': inTenSeconds })) ?? 0;
    assert.ok(seconds >= 9 && seconds <= 10, String(seconds));
  });
});
