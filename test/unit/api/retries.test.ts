import assert from 'node:assert/strict';
import { ApiError, type Fault } from '../../../src/api/errors.ts';
import { waitBeforeRetry, type Method } from '../../../src/api/retries.ts';

const limits = { retries: 5, longestWait: 30_000 };

type Outcome = Parameters<typeof waitBeforeRetry>[1];

const answered = (status: number, headers: Record<string, string> = {}): Outcome => ({
  status,
  headers: new Headers(headers),
});
const failed = (fault: Fault, arrived: boolean): Outcome => ({
  error: new ApiError('x', fault, { arrived }),
});
const network = (code: string) => ({ kind: 'network', code }) as const;

describe('another attempt', () => {
  const rows: readonly [string, Method, Outcome, boolean][] = [
    ...[408, 423, 429, 500, 501, 502, 503, 504, 520].map((status): [string, Method, Outcome, boolean] => [
      `GET with ${status}`,
      'get',
      answered(status),
      true,
    ]),
    ...[301, 400, 401, 403, 404, 405, 409, 422].map((status): [string, Method, Outcome, boolean] => [
      `GET with ${status}`,
      'get',
      answered(status),
      false,
    ]),
    ...(['post', 'patch', 'delete'] as const).flatMap((method) =>
      [408, 423, 429, 500, 502, 503, 504].map((status): [string, Method, Outcome, boolean] => [
        `${method} with ${status}`,
        method,
        answered(status),
        status === 423 || status === 503,
      ]),
    ),
    ['GET after a reset', 'get', failed(network('ECONNRESET'), true), true],
    ['POST after a reset', 'post', failed(network('ECONNRESET'), true), false],
    ['POST that was never sent', 'post', failed(network('ECONNREFUSED'), false), true],
    ['GET with a wrong certificate', 'get', failed(network('CERT_HAS_EXPIRED'), false), false],
    ['GET without an answer', 'get', failed({ kind: 'timeout', phase: 'headers' }, true), true],
    ['POST without an answer', 'post', failed({ kind: 'timeout', phase: 'headers' }, true), false],
    ['GET whose time is up', 'get', failed({ kind: 'timeout', phase: 'total' }, true), false],
    ['GET that was cancelled', 'get', failed({ kind: 'cancelled' }, true), false],
    ['GET after a defect', 'get', { error: new TypeError('x is not a function') }, false],
  ];
  for (const [what, method, outcome, isMade] of rows) {
    it(`${isMade ? 'follows' : 'does not follow'} a ${what}`, () =>
      assert.equal(waitBeforeRetry(method, outcome, 1, limits) !== undefined, isMade));
  }

  it('ends after the retries, for 423 after six times as many', () => {
    assert.ok(waitBeforeRetry('get', answered(503), 5, limits) !== undefined);
    assert.equal(waitBeforeRetry('get', answered(503), 6, limits), undefined);
    assert.ok(waitBeforeRetry('post', answered(423), 30, limits) !== undefined);
    assert.equal(waitBeforeRetry('post', answered(423), 31, limits), undefined);
  });

  it('never follows where there are to be none', () => {
    for (const status of [423, 503])
      assert.equal(waitBeforeRetry('get', answered(status), 1, { retries: 0, longestWait: 1 }), undefined);
  });
});

describe('the wait for another attempt', () => {
  it('doubles, with jitter, up to the longest', () => {
    for (let failures = 1; failures <= 5; failures += 1) {
      const wait = waitBeforeRetry('get', answered(500), failures, { retries: 5, longestWait: 1000 }) ?? 0;
      const full = Math.min(300 * 2 ** (failures - 1), 1000);
      assert.ok(wait >= full * 0.75 && wait <= full, `${failures}: ${wait}`);
    }
  });

  it('stays short for 423, which another operation holds', () => {
    const wait = waitBeforeRetry('post', answered(423), 20, limits) ?? 0;
    assert.ok(wait >= 3750 && wait <= 5000, String(wait));
  });

  const asked = [
    [423, '2', 2000],
    [429, '3', 3000],
    [503, '30', 30_000],
    [429, '31', undefined],
    [503, '86400', undefined],
  ] as const;
  for (const [status, header, wait] of asked) {
    it(`is ${wait === undefined ? 'left to the caller' : `${wait} ms`} for ${status} with Retry-After ${header}`, () =>
      assert.equal(waitBeforeRetry('get', answered(status, { 'retry-after': header }), 1, limits), wait));
  }

  it('is our own when asked to wait no time', () =>
    assert.ok((waitBeforeRetry('get', answered(503, { 'retry-after': '0' }), 1, limits) ?? 0) >= 225));
});
