import assert from 'node:assert/strict';
import {
  ApiError,
  faultOf,
  isCancelled,
  isCertificateCode,
  isOutcomeUnknown,
  isPermanentRejection,
  isRejected,
  isSameFailure,
  POSTGRES_MISSING,
  retryAfterOf,
  type ApiFault,
} from '../../../../src/api/transport/errors.ts';

const rejected = (status: number, retryAfter?: number): ApiFault => ({
  kind: 'rejected',
  status,
  code: undefined,
  requestId: undefined,
  retryAfter,
});

describe('ApiError', () => {
  it('differs from any other error', () => {
    for (const other of [new Error('x'), new DOMException('x', 'AbortError'), 'x', null, { fault: {} }]) {
      assert.equal(faultOf(other), undefined);
      assert.ok(!isOutcomeUnknown(other) && !isCancelled(other) && !isRejected(other));
    }
  });

  it('matches any status, or one of the given ones', () => {
    const error = new ApiError('no', rejected(404));
    assert.ok(isRejected(error));
    assert.ok(isRejected(error, 405, 404));
    assert.ok(!isRejected(error, 401));
  });

  it('has an unknown outcome only if the request may have executed', () => {
    assert.ok(!isOutcomeUnknown(new ApiError('no', rejected(409))));
    assert.ok(!isOutcomeUnknown(new ApiError('bad id', { kind: 'invalidRequest' })));
    assert.ok(isOutcomeUnknown(new ApiError('late', { kind: 'timeout' })));
    assert.ok(
      !isOutcomeUnknown(new ApiError('x', { kind: 'network', code: 'X' }, { mayHaveExecuted: false })),
    );
  });

  it('has the time to wait in milliseconds if the service sent one', () => {
    assert.equal(retryAfterOf(new ApiError('no', rejected(429, 2))), 2000);
    assert.equal(retryAfterOf(new ApiError('no', rejected(429))), undefined);
    assert.equal(retryAfterOf(new Error('x')), undefined);
  });
});

describe('isPermanentRejection', () => {
  it('is true if the service understood the request and is neither busy nor failing', () => {
    const statuses = [400, 401, 403, 404, 408, 409, 422, 423, 429, 499, 500, 503];
    assert.deepEqual(
      statuses.filter((status) => isPermanentRejection(new ApiError('no', rejected(status)))),
      [400, 403, 404, 409, 422, 499],
    );
  });

  it('is false without Postgres, which may be installed, and for other failures', () => {
    const missing = { ...rejected(409), code: POSTGRES_MISSING };
    for (const error of [
      new ApiError('no', missing),
      new ApiError('late', { kind: 'timeout' }),
      new Error('x'),
    ])
      assert.ok(!isPermanentRejection(error));
  });
});

describe('isSameFailure', () => {
  const rows: readonly [string, unknown, unknown, boolean][] = [
    [
      'the same status and message',
      new ApiError('no', rejected(503)),
      new ApiError('no', rejected(503)),
      true,
    ],
    ['another status', new ApiError('no', rejected(503)), new ApiError('no', rejected(500)), false],
    ['another message', new ApiError('no', rejected(503)), new ApiError('busy', rejected(503)), false],
    ['another kind', new ApiError('no', rejected(503)), new ApiError('no', { kind: 'timeout' }), false],
    [
      'two timeouts',
      new ApiError('late', { kind: 'timeout' }),
      new ApiError('late', { kind: 'timeout' }),
      true,
    ],
    [
      'a timeout, then a status',
      new ApiError('no', { kind: 'timeout' }),
      new ApiError('no', rejected(503)),
      false,
    ],
    ['two other errors with one message', new Error('x'), new Error('x'), true],
    ['two other errors', new Error('x'), new Error('y'), false],
    ['an error and its message', new Error('x'), 'x', false],
    ['a message and its error', 'x', new Error('x'), false],
    ['no failure before and after', undefined, undefined, true],
    ['the end of a failure', new Error('x'), undefined, false],
  ];
  for (const [what, before, after, isSame] of rows)
    it(`${what}: ${isSame ? 'the same' : 'another'}`, () =>
      assert.equal(isSameFailure(before, after), isSame));
});

describe('isCertificateCode', () => {
  it('recognizes the codes of Node and OpenSSL', () => {
    for (const code of [
      'DEPTH_ZERO_SELF_SIGNED_CERT',
      'SELF_SIGNED_CERT_IN_CHAIN',
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
      'CERT_HAS_EXPIRED',
      'ERR_TLS_CERT_ALTNAME_INVALID',
    ])
      assert.ok(isCertificateCode(code), code);
    for (const code of ['ECONNRESET', 'ENOTFOUND', 'UND_ERR_SOCKET', undefined])
      assert.ok(!isCertificateCode(code), code);
  });
});
