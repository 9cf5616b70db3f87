/** What a transaction has changed, or several ones. */
import type { CatalogChange } from './catalogChanges.ts';

/** Rows, and not only the last version of each. */
export interface RowCounts {
  added: number;
  changed: number;
  deleted: number;
}

export interface Transaction {
  readonly rows: Map<string, RowCounts>;
  /** Each once. */
  readonly tables: Map<string, CatalogChange>;
  /** Whether it has changed catalogs for a temporary table, or for a table that it has only rewritten. */
  isIncidental?: boolean;
}

/** Gets transactions of which all is known, in the order of their commits. */
export interface TransactionReader {
  /** Transactions until now may have been missed. */
  forget(): void;
  /** A transaction or subtransaction. */
  add(id: number, transaction: Transaction): void;
  /** After a transaction and its subtransactions. @param time microseconds since 1970 */
  end(time: number): void;
}

export const newTransaction = (): Transaction => ({ rows: new Map(), tables: new Map() });

export function countOf(rows: Map<string, RowCounts>, file: string): RowCounts {
  const found = rows.get(file);
  if (found !== undefined) return found;
  const count = { added: 0, changed: 0, deleted: 0 };
  rows.set(file, count);
  return count;
}

/** Adds the second to the first. */
export function merged(sum: Transaction, { rows, tables }: Transaction): Transaction {
  for (const [file, { added, changed, deleted }] of rows) {
    const count = countOf(sum.rows, file);
    count.added += added;
    count.changed += changed;
    count.deleted += deleted;
  }
  for (const [key, change] of tables) sum.tables.set(key, change);
  return sum;
}
