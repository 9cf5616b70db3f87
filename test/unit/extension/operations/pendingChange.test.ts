import assert from 'node:assert/strict';
import {
  hasPendingChange,
  parsePending,
  PENDING_ENTRY,
  type PendingChange,
  isFailedOperation,
  isEndedOperation,
} from '../../../../src/extension/operations/pendingChange.ts';

const operation = { id: 'op-1', action: 'start_compute', status: 'running', failures: 0 };
const change: PendingChange = {
  id: 'op-1',
  account: 'http://127.0.0.1:1/api/v2',
  verb: 'edit',
  projectId: 'shop',
  computeId: 'ep-one',
  operations: [operation],
  since: 0,
};
/** A minute later. */
const NOW = 60_000;

describe('parsePending', () => {
  it('reads what was stored, if anything', () => {
    assert.deepEqual(parsePending([change], NOW), [change]);
    assert.deepEqual(parsePending(undefined, NOW), []);
    assert.deepEqual(parsePending([null, 'op-1', { ...change, since: undefined }], NOW), []);
  });

  it('leaves out changes that began more than a day ago', () => {
    assert.deepEqual(parsePending([change], 24 * 60 * 60_000), []);
  });
});

describe('hasPendingChange', () => {
  it('is true if the memory has a pending change', () => {
    const memory = (value: unknown) => ({
      get: (entry: string) => (entry === PENDING_ENTRY ? value : undefined),
    });
    assert.equal(hasPendingChange(memory([change]), NOW), true);
    assert.equal(hasPendingChange(memory([]), NOW), false);
    assert.equal(hasPendingChange(memory(undefined), NOW), false);
  });
});

describe('isEndedOperation and isFailedOperation', () => {
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
      assert.equal(isEndedOperation({ status }), isEnd);
      assert.equal(isFailedOperation({ status }), isFailure);
    });
  }
});
