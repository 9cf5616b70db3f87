/** What one transaction has changed, or several ones. */
import type { CatalogChange } from './catalogChanges.ts';

/** How often rows were written, by kind: a row that is changed twice counts twice. */
export interface RowCounts {
  added: number;
  changed: number;
  deleted: number;
}

/** A change with the position of its record, because subtransactions are merged in another order. */
export type PlacedChange = CatalogChange & { readonly at: number };

/** What a transaction has changed so far. */
export interface Transaction {
  readonly rows: Map<string, RowCounts>;
  /** The changes of tables, each once. */
  readonly tables: Map<string, PlacedChange>;
  /** The new files of tables, which others don't see yet. */
  readonly rewritten: Set<string>;
  /** Whether the transaction has changed something that can't be read. */
  isUnknown: boolean;
  /** Whether the transaction has changed catalogs for a temporary table, or for a table that it has only rewritten. */
  isIncidental?: boolean;
}

/** A transaction that was committed. */
export interface EndedTransaction {
  /** The position of the record that ends the transaction. */
  readonly at: number;
  /** When the transaction ended, in microseconds since 1970. */
  readonly time: number;
  /** The end of the transaction before it, which is the moment just before it; undefined if that isn't known. */
  readonly previousEnd: number | undefined;
}

/** Receives, in the order of their commits, the transactions that are known completely and before which the data can be restored. */
export interface TransactionReceiver {
  /** Called when transactions until now may have been missed. */
  forget(): void;
  /** Adds a transaction or subtransaction. */
  addTransaction(id: number, transaction: Transaction): void;
  /** Called after a transaction and its subtransactions were added. */
  endTransaction(ended: EndedTransaction): void;
}

export const newTransaction = (): Transaction => ({
  rows: new Map(),
  tables: new Map(),
  rewritten: new Set(),
  isUnknown: false,
});

/** Adds a change, unless an equal one came earlier. */
export function addChange(tables: Map<string, PlacedChange>, change: PlacedChange): void {
  const { kind, of, database, id, before, files } = change;
  const key = JSON.stringify([kind, of, database, id, before, files?.at(-1)]);
  const { at = Infinity } = tables.get(key) ?? {};
  if (change.at < at) tables.set(key, change);
}

export function getOrCreateCounts(rows: Map<string, RowCounts>, file: string): RowCounts {
  const found = rows.get(file);
  if (found !== undefined) return found;
  const count = { added: 0, changed: 0, deleted: 0 };
  rows.set(file, count);
  return count;
}

/** Adds a transaction to a sum. @returns the sum */
export function addToTotal(sum: Transaction, { rows, tables }: Transaction): Transaction {
  for (const [file, { added, changed, deleted }] of rows) {
    const count = getOrCreateCounts(sum.rows, file);
    count.added += added;
    count.changed += changed;
    count.deleted += deleted;
  }
  for (const change of tables.values()) addChange(sum.tables, change);
  return sum;
}
