import assert from 'node:assert/strict';
import type { AppliedMigration } from '../../../../src/extension/database/sql/appliedMigrations.ts';
import {
  findLaterMigrations as find,
  isAtOrAfter,
  removedMigrations,
} from '../../../../src/extension/history/migrationOffer.ts';

/** Each with the transaction that wrote its row. */
const rowsOf = (rows: Readonly<Record<string, number>>): AppliedMigration[] =>
  Object.entries(rows).map(([name, transaction]) => ({ name, transaction, isApplied: true }));
const commit = (id: number, [added, changed, deleted] = [1, 0, 0]) => ({
  ids: [id],
  before: `before ${id}`,
  late: false,
  added: added ?? 0,
  changed: changed ?? 0,
  deleted: deleted ?? 0,
});
/** The rows and commits of migrations that were applied by one transaction each. */
const [ROWS, COMMITS] = [rowsOf({ a: 1, b: 2, c: 3 }), [commit(1), commit(2), commit(3)]];
/** @param files notes of the files that the working tree has: it has lost all other ones */
const findLater = (
  files: readonly (readonly string[])[],
  rows: readonly AppliedMigration[],
  transactions: Parameters<typeof find>[2],
  areNotedFirst = false,
) => {
  const notes = new Set(files.flat());
  const later = new Set(rows.filter(({ name }) => !notes.has(name)));
  return later.size === 0 ? undefined : find({ rows, areNotedFirst }, later, transactions);
};
const late = (id: number) => ({ ...commit(id), late: true });
const [A, B, C] = [['a', '1'], ['b', '2'], ['c']];

describe('Migrations of a database that the working tree does not have', () => {
  it('are found with the moment before the first of them', () => {
    assert.deepEqual(findLater([A, B], ROWS, COMMITS), { before: 'before 3', count: 1, since: 'before 1' });
    assert.deepEqual(findLater([A], ROWS, COMMITS), { before: 'before 2', count: 2, since: 'before 1' });
    assert.deepEqual(findLater([], ROWS, COMMITS), { before: 'before 1', count: 3, since: 'before 1' });
  });

  it('are found with the position of that moment', () => {
    const transactions = [commit(1), { ...commit(2), lsn: '0/15000A8' }, { ...commit(3), lsn: '1/0' }];
    const found = { before: 'before 2', lsn: '0/15000A8', count: 2, since: 'before 1' };
    assert.deepEqual(findLater([A], ROWS, transactions), found);
  });

  it('are not the last ones if a position is later, also with an earlier time', () => {
    const [early, late] = ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'];
    const moment = { before: early, lsn: '1/5' };
    const isLast = (before: string, lsn?: string) => isAtOrAfter({ before, lsn }, moment);
    assert.deepEqual([isLast(early), isLast(late), isLast('2025-12-31T00:00:00Z')], [true, true, false]);
    assert.deepEqual(
      ['0/FFFFFFFF', '1/4', '1/5', '1/10', '10/0'].map((lsn) => isLast(late, lsn)),
      [false, false, true, true, true],
    );
    assert.equal(isLast('2025-12-31T00:00:00Z', '2/0'), true);
  });

  it('are found if the log of the database begins after others', () => {
    const found = { before: 'before 3', count: 1, since: undefined };
    assert.deepEqual(findLater([A, B], ROWS, [commit(2), commit(3)]), found);
  });

  it('are found if a program notes the beginning and the end of each', () => {
    const rows = rowsOf({ a: 11, b: 21 });
    const transactions = [commit(1), commit(11, [0, 1, 0]), commit(2), commit(21, [0, 1, 0])];
    assert.deepEqual(findLater([A], rows, transactions), { before: 'before 2', count: 1, since: 'before 1' });
  });

  it('are found if one of them has failed before', () => {
    const rows = [...rowsOf({ a: 1, b: 3 }), { name: 'b', transaction: 2, isApplied: false }];
    assert.deepEqual(findLater([A], rows, COMMITS), { before: 'before 2', count: 1, since: 'before 1' });
  });

  it('may be late themselves if the program notes each before it applies it, or if other ones are late', () => {
    const all = [late(1), late(2), late(3)];
    assert.deepEqual(findLater([A], ROWS, all, true), { before: 'before 2', count: 2, since: 'before 1' });
    const found = { before: 'before 2', count: 2, since: undefined };
    assert.deepEqual(findLater([A], ROWS, [late(1), commit(2), late(3)]), found);
  });

  for (const [what, files, rows, transactions] of [
    ['there are no later ones', [A, B, C], ROWS, COMMITS],
    [
      'one of the working tree has failed',
      [A],
      [{ ...ROWS[0], isApplied: false }, ...ROWS.slice(1)],
      COMMITS,
    ],
    ['one of the working tree came after them', [A, C], ROWS, COMMITS],
    [
      'one transaction has also applied one of the working tree',
      [A, B],
      rowsOf({ a: 1, b: 2, c: 2 }),
      [commit(1), commit(2, [2, 0, 0])],
    ],
    ['one was also removed since then', [A, B], ROWS, [...COMMITS, commit(4, [0, 0, 1])]],
    [
      'a row of the working tree was changed since then',
      [A, B],
      rowsOf({ a: 4, b: 2, c: 3 }),
      [...COMMITS, commit(4, [0, 1, 0])],
    ],
    [
      'the first of them may have been applied without a transaction',
      [A],
      ROWS,
      [commit(1), late(2), commit(3)],
    ],
    ['the log does not have the transactions', [A], ROWS, COMMITS.slice(2)],
    ['the log has other transactions', [A, B], ROWS, [commit(5)]],
    ['nothing is known', [A, B], ROWS, []],
  ] as const)
    it(`are not found if ${what}`, () => {
      assert.equal(findLater(files, rows as readonly AppliedMigration[], transactions), undefined);
    });
});

describe('The rows of migrations that a checkout has removed', () => {
  const files = (tracked: readonly string[], removed: readonly string[], others: readonly string[] = []) => {
    const asFiles = (names: readonly string[]) => names.map((name) => ({ name, content: name }));
    const present = [...tracked, ...others];
    return { tracked: asFiles(tracked), removed: asFiles(removed), present, hashes: new Map() };
  };
  const rows = rowsOf({ '1_a.js': 1, '2_b.js': 2 });
  const laterOf = (...args: Parameters<typeof files>) => {
    const found = removedMigrations(files(...args), rows);
    return found && [[...found.later].map(({ name }) => name), [...found.files]];
  };

  it('are those of its files, if all others have one', () => {
    assert.deepEqual(laterOf(['db/1_a.ts'], ['db/2_b.ts']), [['2_b.js'], ['db/1_a.ts']]);
    assert.deepEqual(laterOf([], ['db/1_a.ts', 'db/2_b.ts']), [['1_a.js', '2_b.js'], []]);
  });

  it('are undefined in case of doubt', () => {
    assert.equal(laterOf(['db/1_a.ts', 'db/2_b.ts'], []), undefined);
    assert.equal(laterOf(['db/1_a.ts', 'other/2_b.ts'], ['db/2_b.ts']), undefined);
    assert.equal(laterOf(['db/1_a.ts'], []), undefined);
    assert.equal(laterOf([], ['db/2_b.ts']), undefined);
    assert.equal(laterOf([], ['db/2_b.ts'], ['db/1_a.ts']), undefined);
    assert.equal(laterOf(['db/1_a.ts'], ['db/2_b.ts'], ['new/2_b.ts']), undefined);
  });
});
