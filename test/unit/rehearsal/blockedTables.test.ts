import assert from 'node:assert/strict';
import type { HeldLock, LockMode, Rehearsal } from '../../../src/api/records/rehearsal.ts';
import { blockedTables } from '../../../src/rehearsal/blockedTables.ts';

const table = { database: 'app', id: 1, name: 'public.orders', kind: 'r', file: 1, bytes: 0, columns: {} };

const held = (mode: LockMode, from: number, to: number, more: Partial<HeldLock> = {}): HeldLock => ({
  database: 'app',
  id: 1,
  table: 'public.orders',
  mode,
  from,
  to,
  statement: 0,
  ...more,
});

const blocks = (...locks: readonly HeldLock[]) => {
  const rehearsal: Rehearsal = { statements: [], locks, before: [table], after: [table] };
  return blockedTables(rehearsal).map(({ blocks: what, milliseconds }) => [what, milliseconds]);
};

describe('blockedTables', () => {
  it('says the strongest of what others wait for, and what they wait longer for', () => {
    assert.deepEqual(blocks(held('AccessExclusiveLock', 10, 30)), [['reads', 20]]);
    assert.deepEqual(blocks(held('ShareLock', 0, 50), held('AccessExclusiveLock', 40, 50)), [
      ['writes', 50],
      ['reads', 10],
    ]);
    assert.deepEqual(blocks(held('ShareUpdateExclusiveLock', 0, 5)), [['changes of its definition', 5]]);
    assert.deepEqual(blocks(held('RowExclusiveLock', 0, 5)), []);
  });

  it('says how long others wait for rows that were changed, unless they wait as long for the table', () => {
    const changed = held('RowExclusiveLock', 0, 30, { rows: 7 });
    assert.deepEqual(blocks(changed), [['writes', 30]]);
    assert.deepEqual(blocks(changed, held('ShareLock', 0, 30)), [['writes', 30]]);
    assert.deepEqual(blocks(held('RowExclusiveLock', 0, 30, { rows: 0 })), []);
  });

  it('takes locks that overlap together, and of others the longest', () => {
    const index = { index: 'orders_pkey' };
    assert.deepEqual(blocks(held('AccessExclusiveLock', 0, 20), held('AccessExclusiveLock', 15, 40, index)), [
      ['reads', 40],
    ]);
    assert.deepEqual(blocks(held('ShareLock', 0, 20), held('ShareLock', 30, 60)), [['writes', 30]]);
  });

  it('leaves out what the migration has created, and the same number in another database', () => {
    assert.deepEqual(blocks(held('AccessExclusiveLock', 0, 20, { id: 2 })), []);
    assert.deepEqual(blocks(held('AccessExclusiveLock', 0, 20, { database: 'other' })), []);
  });
});
