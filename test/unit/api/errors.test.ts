import assert from 'node:assert/strict';
import {
  ApiError,
  faultOf,
  isCancelled,
  isOutcomeUnknown,
  isRefused,
  retryAfterOf,
  type Fault,
} from '../../../src/api/errors.ts';

const refused = (status: number, retryAfter?: number): Fault => ({
  kind: 'refused',
  status,
  code: undefined,
  requestId: undefined,
  retryAfter,
});

describe('an error of the client', () => {
  it('is known by its fault even when its class was loaded twice', () => {
    const twin = Object.assign(new Error('x'), {
      name: 'ApiError',
      fault: { kind: 'cancelled' },
      mayHaveExecuted: true,
    });
    assert.ok(isCancelled(twin));
    assert.ok(isOutcomeUnknown(twin));
  });

  it('is told apart from any other', () => {
    for (const other of [new Error('x'), new DOMException('x', 'AbortError'), 'x', null, { fault: {} }]) {
      assert.equal(faultOf(other), undefined);
      assert.ok(!isOutcomeUnknown(other) && !isCancelled(other) && !isRefused(other));
    }
  });

  it('is a refusal of any status, or of the ones asked for', () => {
    const error = new ApiError('no', refused(404));
    assert.ok(isRefused(error));
    assert.ok(isRefused(error, 405, 404));
    assert.ok(!isRefused(error, 401));
  });

  it('leaves the outcome open only if the request may have mayHaveExecuted', () => {
    assert.ok(!isOutcomeUnknown(new ApiError('no', refused(409))));
    assert.ok(!isOutcomeUnknown(new ApiError('bad id', { kind: 'invalidRequest' })));
    assert.ok(isOutcomeUnknown(new ApiError('late', { kind: 'timeout', phase: 'headers' })));
    assert.ok(
      !isOutcomeUnknown(new ApiError('x', { kind: 'network', code: 'X' }, { mayHaveExecuted: false })),
    );
  });

  it('tells in milliseconds how long to wait, where the service said so', () => {
    assert.equal(retryAfterOf(new ApiError('no', refused(429, 2))), 2000);
    assert.equal(retryAfterOf(new ApiError('no', refused(429))), undefined);
    assert.equal(retryAfterOf(new Error('x')), undefined);
  });
});
