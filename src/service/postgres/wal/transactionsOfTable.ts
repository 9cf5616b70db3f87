/** Which transactions have changed rows of one table, and which tables were changed in between. */
import type { TableFile } from '../../core/branchHistory.ts';
import { fileKey, type CatalogChange } from './catalogChanges.ts';
import type { RowCounts, Transaction } from './transaction.ts';

/** Microseconds since 1970. */
type TimedChange = CatalogChange & { readonly time: number };

export interface WalTransaction extends Readonly<RowCounts> {
  /** Of the transaction and its subtransactions, as in `xmin`. */
  readonly ids: readonly number[];
  /** Microseconds since 1970. */
  readonly time: number;
  /** Tables of the database that it or others have changed since the one before. */
  readonly tables: readonly TimedChange[];
}

/** Collects them while the WAL is read. */
export class TransactionsOfTable {
  readonly #of: TableFile;
  #found: WalTransaction[] = [];
  /** Changed since the last of them. */
  #tables: TimedChange[] = [];
  /** The transaction that is being added, and its subtransactions. */
  #ending: (readonly [number, Transaction])[] = [];

  constructor(of: TableFile) {
    this.#of = of;
  }

  /** Oldest first. The table has had the same file since before the first one. */
  get list(): readonly WalTransaction[] {
    return this.#found;
  }

  /** Call it if transactions until now may have been missed. */
  forget(): void {
    [this.#found, this.#tables] = [[], []];
  }

  add(id: number, transaction: Transaction): void {
    this.#ending.push([id, transaction]);
  }

  /** Call it after `add` for a transaction and its subtransactions. */
  end(time: number): void {
    const { database, table, file } = this.#of;
    const ending = this.#ending;
    this.#ending = [];
    const tables = ending
      .flatMap(([, each]) => [...each.tables.values()])
      .filter((change) => change.database === database && change.table !== 0);
    // It was another table before, or had other rows.
    if (tables.some((change) => change.table === table && change.kind !== 'altered')) return this.forget();
    this.#tables.push(...tables.map((change) => ({ ...change, time })));
    const counts = ending.flatMap(([id, { rows }]) => {
      const found = rows.get(fileKey(database, file));
      return found === undefined ? [] : { id, ...found };
    });
    if (counts.length === 0) return;
    const sum = (kind: keyof RowCounts) => counts.reduce((total, each) => total + each[kind], 0);
    this.#found.push({
      ids: counts.map(({ id }) => id),
      time,
      added: sum('added'),
      changed: sum('changed'),
      deleted: sum('deleted'),
      tables: this.#tables,
    });
    this.#tables = [];
  }
}
