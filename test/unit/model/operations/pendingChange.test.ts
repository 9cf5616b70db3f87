import assert from 'node:assert/strict';
import {
  hasPending,
  countOpenOperations,
  parsePending,
  PENDING_ENTRY,
  type PendingChange,
} from '../../../../src/model/operations/pendingChange.ts';

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
  it('reads valid changes, with or without a name', () => {
    const named = { ...change, name: 'reports' };
    assert.deepEqual(parsePending([change, named], NOW), [change, named]);
  });

  const oddFields = {
    id: 1,
    account: undefined,
    verb: 'rename',
    projectId: 'a/b',
    computeId: 'br-one',
    name: 7,
    since: '0',
    operations: {},
  };
  for (const [field, odd] of Object.entries(oddFields))
    it(`leaves out a change whose ${field} is invalid`, () => {
      assert.deepEqual(parsePending([{ ...change, [field]: odd }, change], NOW), [change]);
    });

  for (const field of Object.keys(operation))
    it(`leaves out a change with an operation without ${field}`, () => {
      const odd = { ...change, operations: [operation, { ...operation, [field]: undefined }] };
      assert.deepEqual(parsePending([odd], NOW), []);
    });

  it('leaves out changes without operations and values of other kinds', () => {
    const odd = [null, 'text', { ...change, operations: [] }, { ...change, operations: [null] }];
    assert.deepEqual(parsePending(odd, NOW), []);
    assert.deepEqual(parsePending(undefined, NOW), []);
  });

  it('leaves out changes that began more than a day ago', () => {
    assert.deepEqual(parsePending([change], 24 * 60 * 60_000), []);
  });
});

describe('hasPending', () => {
  it('is true if the memory has a pending change', () => {
    const memory = (value: unknown) => ({
      get: (entry: string) => (entry === PENDING_ENTRY ? value : undefined),
    });
    assert.equal(hasPending(memory([change]), NOW), true);
    assert.equal(hasPending(memory([]), NOW), false);
    assert.equal(hasPending(memory(undefined), NOW), false);
  });
});

describe('countOpenOperations', () => {
  it('counts the operations in progress', () => {
    const ended = { ...operation, status: 'finished' };
    assert.equal(countOpenOperations([{ ...change, operations: [operation, ended] }, change]), 2);
    assert.equal(countOpenOperations([]), 0);
  });
});
