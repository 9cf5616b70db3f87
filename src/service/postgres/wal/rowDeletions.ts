/** Collects the last transactions that have deleted rows, and the larger ones before them, while the WAL is read. */
import type { EndedTransaction, Transaction, TransactionReceiver } from './transaction.ts';

interface RowDeletion extends EndedTransaction {
  readonly rows: number;
  /** Of how many tables, such as those of a foreign key that cascades. */
  readonly tables: number;
}

/** The microseconds within which transactions belong together, such as the batches of one deletion. */
const SERIES = 10_000_000;
/** The fewest rows of a deletion that matters. Programs delete single rows all the time. */
const LEAST_ROWS = 2;
const MAX_DELETIONS = 5;

/** Collects deletions of rows while the WAL is read. */
export class RowDeletions implements TransactionReceiver {
  /** Deletions by file, see `fileKey`. */
  readonly #found = new Map<string, readonly RowDeletion[]>();
  #ending: Transaction[] = [];

  /** Does nothing, because what was found stays true. */
  forget(): void {}

  addTransaction(_: number, transaction: Transaction): void {
    this.#ending.push(transaction);
  }

  endTransaction(ended: EndedTransaction): void {
    const rows = new Map<string, number>();
    for (const [file, { deleted }] of this.#ending.flatMap((each) => [...each.rows]))
      if (deleted > 0) rows.set(file, (rows.get(file) ?? 0) + deleted);
    this.#ending = [];
    for (const [file, count] of rows) {
      const found = this.#found.get(file) ?? [];
      const last = found.at(-1);
      const isSame = last !== undefined && ended.time >= last.time && ended.time - last.time <= SERIES;
      const next = isSame ? { ...last, rows: last.rows + count } : { ...ended, rows: count, tables: 1 };
      this.#found.set(file, withDeletion(isSame ? found.slice(0, -1) : found, next));
    }
  }

  /**
   * Returns the deletions that matter, oldest first.
   * @param isIncluded says by the file of a table and the position whether a deletion counts
   */
  list(isIncluded: (file: string, at: number) => boolean): readonly RowDeletion[] {
    const all = new Map<number, RowDeletion>();
    for (const [file, found] of this.#found)
      for (const each of found.filter(({ at }) => isIncluded(file, at)))
        all.set(each.at, sum(each, all.get(each.at)));
    return [...all.values()]
      .filter(({ rows }) => rows >= LEAST_ROWS)
      .toSorted((a, b) => a.at - b.at)
      .reduce(withDeletion, []);
  }
}

const sum = (one: RowDeletion, other: RowDeletion | undefined): RowDeletion =>
  other === undefined ? one : { ...one, rows: one.rows + other.rows, tables: one.tables + other.tables };

/** Adds a deletion, and leaves out earlier ones that were not larger, which matter less. */
const withDeletion = (earlier: readonly RowDeletion[], next: RowDeletion): readonly RowDeletion[] => [
  ...earlier.filter(({ rows }) => rows > next.rows).slice(0, MAX_DELETIONS - 1),
  next,
];
