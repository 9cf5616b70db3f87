import assert from 'node:assert/strict';
import { ApiError, type Fault } from '../../../../src/api/errors.ts';
import { retryDelay } from '../../../../src/api/transport/retry.ts';

const limits = { retries: 5, longestWait: 30_000 };

const answered = (status: number, retryAfter?: number, mayHaveExecuted = false) =>
  failed({ kind: 'refused', status, code: undefined, requestId: undefined, retryAfter }, mayHaveExecuted);
const failed = (fault: Fault, mayHaveExecuted: boolean) => new ApiError('x', fault, { mayHaveExecuted });
const network = (code: string) => ({ kind: 'network', code }) as const;

describe('another attempt', () => {
  const rows: readonly [string, 'get' | 'change', unknown, boolean][] = [
    ...[408, 423, 429, 500, 501, 502, 503, 504, 520].map((status): [string, 'get', unknown, boolean] => [
      `GET with ${status}`,
      'get',
      answered(status),
      true,
    ]),
    ...[301, 400, 401, 403, 404, 405, 409, 422, 999].map((status): [string, 'get', unknown, boolean] => [
      `GET with ${status}`,
      'get',
      answered(status),
      false,
    ]),
    ...[408, 409, 423, 429, 503].map((status): [string, 'change', unknown, boolean] => [
      `change that was not made, with ${status}`,
      'change',
      answered(status),
      status === 423 || status === 429 || status === 503,
    ]),
    ...[500, 502, 503, 504, 999].map((status): [string, 'change', unknown, boolean] => [
      `change that may have been made, with ${status}`,
      'change',
      answered(status, undefined, true),
      false,
    ]),
    ['GET after a reset', 'get', failed(network('ECONNRESET'), true), true],
    ['change after a reset', 'change', failed(network('ECONNRESET'), true), false],
    ['change that was never sent', 'change', failed(network('ECONNREFUSED'), false), true],
    ['GET with a wrong certificate', 'get', failed(network('CERT_HAS_EXPIRED'), false), false],
    ['GET without an answer', 'get', failed({ kind: 'timeout', phase: 'headers' }, true), true],
    ['change without an answer', 'change', failed({ kind: 'timeout', phase: 'headers' }, true), false],
    ['GET whose time is up', 'get', failed({ kind: 'timeout', phase: 'total' }, true), false],
    ['GET that was cancelled', 'get', failed({ kind: 'cancelled' }, true), false],
    ['GET after a defect', 'get', new TypeError('x is not a function'), false],
  ];
  for (const [what, method, error, isMade] of rows) {
    it(`${isMade ? 'follows' : 'does not follow'} a ${what}`, () =>
      assert.equal(retryDelay(error, method === 'change', 1, limits) !== undefined, isMade));
  }

  it('ends after the retries, for 423 after six times as many', () => {
    assert.ok(retryDelay(answered(503), false, 5, limits) !== undefined);
    assert.equal(retryDelay(answered(503), false, 6, limits), undefined);
    assert.ok(retryDelay(answered(423), true, 30, limits) !== undefined);
    assert.equal(retryDelay(answered(423), true, 31, limits), undefined);
  });

  it('never follows where there are to be none', () => {
    for (const status of [423, 503])
      assert.equal(retryDelay(answered(status), false, 1, { retries: 0, longestWait: 1 }), undefined);
  });
});

describe('the wait for another attempt', () => {
  it('doubles, with jitter, up to the longest', () => {
    for (let failures = 1; failures <= 5; failures += 1) {
      const wait = retryDelay(answered(500), false, failures, { retries: 5, longestWait: 1000 }) ?? 0;
      const full = Math.min(300 * 2 ** (failures - 1), 1000);
      assert.ok(wait >= full * 0.75 && wait <= full, `${failures}: ${wait}`);
    }
  });

  it('stays short for 423, which another operation holds', () => {
    const wait = retryDelay(answered(423), true, 20, limits) ?? 0;
    assert.ok(wait >= 3750 && wait <= 5000, String(wait));
  });

  const asked = [
    [423, 2, 2000],
    [429, 3, 3000],
    [503, 30, 30_000],
    [429, 31, undefined],
    [503, 3600, undefined],
  ] as const;
  for (const [status, seconds, wait] of asked) {
    it(`is ${wait === undefined ? 'left to the caller' : `${wait} ms`} for ${status} with Retry-After ${seconds}`, () => {
      for (const isChange of [false, true])
        assert.equal(retryDelay(answered(status, seconds), isChange, 1, limits), wait);
    });
  }

  it('is our own when asked to wait no time', () =>
    assert.ok((retryDelay(answered(503, 0), false, 1, limits) ?? 0) >= 225));
});
