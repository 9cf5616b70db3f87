import assert from 'node:assert/strict';
import { RowDeletions } from '../../../../../src/service/postgres/wal/rowDeletions.ts';
import { getOrCreateCounts, newTransaction } from '../../../../../src/service/postgres/wal/transaction.ts';

const MINUTE = 60_000_000;

/** @param transactions the minute of each, and how many rows it has deleted by file */
function deletions(transactions: readonly (readonly [minute: number, Readonly<Record<string, number>>])[]) {
  const found = new RowDeletions();
  transactions.forEach(([minute, files], at) => {
    const transaction = newTransaction();
    for (const [file, rows] of Object.entries(files))
      getOrCreateCounts(transaction.rows, file).deleted = rows;
    found.addTransaction(at, transaction);
    found.endTransaction({ at, time: minute * MINUTE, previousEnd: undefined });
  });
  return found
    .list((file) => file !== 'catalog')
    .map(({ time, rows, tables }) => [time / MINUTE, rows, ...(tables > 1 ? [tables] : [])]);
}

describe('The deletions in a log', () => {
  it('are the last one, and larger ones before it', () => {
    const sizes = [4, 90, 12, 7, 9, 2];
    const found = deletions(sizes.map((rows, minute) => [minute, { table: rows }]));
    assert.deepEqual(found, [
      [1, 90],
      [2, 12],
      [4, 9],
      [5, 2],
    ]);
  });

  it('are not those of single rows, which end no list', () => {
    assert.deepEqual(deletions([[1, { table: 9 }], ...[2, 3, 4].map((at) => [at, { table: 1 }] as const)]), [
      [1, 9],
    ]);
  });

  it('are one if they follow each other within seconds, but not for ever', () => {
    const batches = [0, 0.1, 0.16, 0.2].map((minute) => [minute, { table: 50 }] as const);
    assert.deepEqual(deletions(batches), [
      [0, 150],
      [0.2, 50],
    ]);
  });

  it('count the rows of all tables of a transaction and these tables, and nothing else', () => {
    assert.deepEqual(deletions([[1, { table: 2, other: 3, catalog: 100 }]]), [[1, 5, 2]]);
  });

  it('are at most five, the largest and the last', () => {
    const found = deletions([9, 8, 7, 6, 5, 4, 3].map((rows, minute) => [minute, { table: rows }]));
    assert.deepEqual(
      found.map(([, rows]) => rows),
      [9, 8, 7, 6, 3],
    );
  });
});
