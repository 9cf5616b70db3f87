/** Finds which transactions have changed rows of one table, and whether others have changed anything in between. */
import type { TableFile } from '../../core/branchHistory.ts';
import { fileKey } from './catalogChanges.ts';
import type { EndedTransaction, RowCounts, Transaction, TransactionReceiver } from './transaction.ts';

interface WalTransaction extends Readonly<RowCounts>, Omit<EndedTransaction, 'at'> {
  /** The ids of the transaction and its subtransactions, as in `xmin`. */
  readonly ids: readonly number[];
  /** Whether steps of a migration may have come before the transaction, see `TableTransaction`. */
  readonly late: boolean;
}

/** Collects the transactions that have changed rows of a table while the WAL is read. */
export class TransactionsOfTable implements TransactionReceiver {
  readonly #of: TableFile;
  #found: WalTransaction[] = [];
  /** Whether other transactions have changed something, or may have, since the last one that has changed the table. */
  #othersChanged = true;
  /** The transaction that is being added, and its subtransactions. */
  #ending: (readonly [number, Transaction])[] = [];

  constructor(of: TableFile) {
    this.#of = of;
  }

  /** Returns the transactions, oldest first. The table has had the same file since before the first one. */
  get list(): readonly WalTransaction[] {
    return this.#found;
  }

  /** Call it if transactions until now may have been missed. */
  forget(): void {
    [this.#found, this.#othersChanged] = [[], true];
  }

  addTransaction(id: number, transaction: Transaction): void {
    this.#ending.push([id, transaction]);
  }

  /** Call it after `addTransaction` for a transaction and its subtransactions. */
  endTransaction({ time, previousEnd }: EndedTransaction): void {
    const { database, table, file } = this.#of;
    const ending = this.#ending;
    this.#ending = [];
    const tables = ending
      .flatMap(([, each]) => [...each.tables.values()])
      .filter((change) => change.of === 'table' && change.database === database && change.id === table);
    // Before this transaction, the table didn't exist, or had other rows.
    if (tables.some(({ kind }) => kind !== 'altered' && kind !== 'renamed')) return this.forget();
    const key = fileKey(database, file);
    const counts = ending.flatMap(([id, { rows }]) => {
      const found = rows.get(key);
      return found === undefined ? [] : { id, ...found };
    });
    if (counts.length === 0) {
      this.#othersChanged ||= ending.length > 0;
      return;
    }
    const isOnlyOfTable = ending.every(([, { rows }]) => [...rows.keys()].every((each) => each === key));
    const sumOfCounts = (kind: keyof RowCounts) => counts.reduce((total, each) => total + each[kind], 0);
    this.#found.push({
      ids: counts.map(({ id }) => id),
      time,
      previousEnd,
      added: sumOfCounts('added'),
      changed: sumOfCounts('changed'),
      deleted: sumOfCounts('deleted'),
      late: isOnlyOfTable && this.#othersChanged,
    });
    this.#othersChanged = false;
  }
}
