import assert from 'node:assert/strict';
import { hasFailed, isFinal } from '../../../../src/api/records/operationStatus.ts';

describe('an operation', () => {
  const rows = [
    ['scheduling', false, false],
    ['running', false, false],
    ['cancelling', false, false],
    ['something new', false, false],
    ['finished', true, false],
    ['skipped', true, false],
    ['failed', true, true],
    ['error', true, true],
    ['cancelled', true, true],
  ] as const;
  for (const [status, isEnd, isFailure] of rows) {
    it(`that is ${status} has ${isEnd ? '' : 'not '}ended${isFailure ? ' in failure' : ''}`, () => {
      assert.equal(isFinal({ status }), isEnd);
      assert.equal(hasFailed({ status }), isFailure);
    });
  }
});
