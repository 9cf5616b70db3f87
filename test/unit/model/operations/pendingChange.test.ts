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

describe('parsePending', () => {
  it('reads valid changes, with or without a name', () => {
    const named = { ...change, name: 'reports' };
    assert.deepEqual(parsePending([change, named]), [change, named]);
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
      assert.deepEqual(parsePending([{ ...change, [field]: odd }, change]), [change]);
    });

  for (const field of Object.keys(operation))
    it(`leaves out a change with an operation without ${field}`, () => {
      const odd = { ...change, operations: [operation, { ...operation, [field]: undefined }] };
      assert.deepEqual(parsePending([odd]), []);
    });

  it('leaves out changes without operations and values of other kinds', () => {
    const odd = [null, 'text', { ...change, operations: [] }, { ...change, operations: [null] }];
    assert.deepEqual(parsePending(odd), []);
    assert.deepEqual(parsePending(undefined), []);
  });
});

describe('hasPending', () => {
  it('is true if the memory has a pending change', () => {
    const memory = (value: unknown) => ({
      get: (entry: string) => (entry === PENDING_ENTRY ? value : undefined),
    });
    assert.equal(hasPending(memory([change])), true);
    assert.equal(hasPending(memory([])), false);
    assert.equal(hasPending(memory(undefined)), false);
  });
});

describe('countOpenOperations', () => {
  it('counts the operations in progress', () => {
    const ended = { ...operation, status: 'finished' };
    assert.equal(countOpenOperations([{ ...change, operations: [operation, ended] }, change]), 2);
    assert.equal(countOpenOperations([]), 0);
  });
});
