import assert from 'node:assert/strict';
import { hasFailed, isFinal } from '../../../../src/api/records/operationStatus.ts';

describe('isFinal and hasFailed', () => {
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
    it(`${status}: ${isEnd ? 'final' : 'not final'}${isFailure ? ', failed' : ''}`, () => {
      assert.equal(isFinal({ status }), isEnd);
      assert.equal(hasFailed({ status }), isFailure);
    });
  }
});
