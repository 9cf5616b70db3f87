/**
 * Finds when the schema was changed, by any program. While the WAL is read, it collects series of transactions that have changed
 * tables or other parts of a schema, or a table in which a migration tool certainly notes what it has applied.
 */
import type { CatalogChange } from './catalogChanges.ts';
import type { EndedTransaction, RowCounts, Transaction, TransactionReceiver } from './transaction.ts';

/** A series of transactions that have changed the schema. */
export interface SchemaRun {
  /** The position of the end of the first transaction. */
  readonly at: number;
  /** The position of the end of the last transaction. */
  readonly last: number;
  /** When the first and the last transaction ended, in microseconds since 1970. */
  readonly start: number;
  readonly end: number;
  readonly previousEnd: number | undefined;
  /** What was done to each table or database. */
  readonly tables: ReadonlyMap<string, ReadonlySet<CatalogChange['kind']>>;
  /** The number of rows that migration tools have added to their tables. */
  readonly migrations: number;
}

interface KnownTables {
  /** Whether the id is that of a table. The catalog of columns also has those of indexes and views. */
  readonly isTable: (database: number, id: number) => boolean;
  /**
   * The files of tables that look like those in which migration tools note what they have applied, and whether that is certain. See
   * `fileKey`.
   */
  readonly migrationTables: ReadonlyMap<string, boolean>;
  /** The files of the catalogs that describe a schema. */
  readonly catalogs: ReadonlySet<string>;
}

/** The most microseconds between transactions that belong together. A migration tool often has one for each file. */
const GAP = 10_000_000;

type Draft = { -readonly [Key in Exclude<keyof SchemaRun, 'tables'>]: SchemaRun[Key] } & {
  readonly tables: Map<string, Set<CatalogChange['kind']>>;
};

/** Collects, while the WAL is read, series of transactions that have changed the schema. */
export class SchemaRuns implements TransactionReceiver {
  readonly #known: KnownTables;
  readonly #runs: Draft[] = [];
  /** The transaction that is being added, and its subtransactions. */
  #ending: Transaction[] = [];

  constructor(known: KnownTables) {
    this.#known = known;
  }

  /** The series of transactions, oldest first. */
  get list(): readonly SchemaRun[] {
    return this.#runs;
  }

  /**
   * Does nothing, because what was found stays true: some changes of a transaction may be missing, but the moment before it is
   * known.
   */
  forget(): void {}

  addTransaction(_: number, transaction: Transaction): void {
    this.#ending.push(transaction);
  }

  endTransaction(ended: EndedTransaction): void {
    const { time } = ended;
    const ending = this.#ending;
    this.#ending = [];
    const tables = ending
      .flatMap((each) => [...each.tables.values()])
      .filter((each) => this.#isOfTable(each));
    const isChange = tables.length > 0 || this.#changesSchema(ending);
    const notes = ending.flatMap((each) => this.#notesIn(each, isChange));
    if (!isChange && notes.length === 0) return;
    const run = this.#findOrBeginRun(ended);
    run.end = time;
    run.last = ended.at;
    run.migrations += notes.reduce((sum, { added }) => sum + added, 0);
    for (const { of, database, id, kind } of tables) {
      const key = `${of}/${database}/${id}`;
      run.tables.set(key, (run.tables.get(key) ?? new Set()).add(kind === 'renamed' ? 'altered' : kind));
    }
  }

  #findOrBeginRun({ at, time, previousEnd }: EndedTransaction): Draft {
    const last = this.#runs.at(-1);
    // If the clock has gone back, a new series begins.
    if (last !== undefined && time >= last.end && time - last.end <= GAP) return last;
    const run = { at, last: at, start: time, end: time, previousEnd, tables: new Map(), migrations: 0 };
    this.#runs.push(run);
    return run;
  }

  /**
   * Returns the changes of the tables of migration tools.
   * @param isChange whether the transaction has also changed the schema. Otherwise, it may be that of any program, unless the table is certain
   */
  #notesIn({ rows }: Transaction, isChange: boolean): readonly RowCounts[] {
    return [...rows].flatMap(([key, counts]) => {
      const isCertain = this.#known.migrationTables.get(key);
      return isCertain === true || (isCertain === false && isChange) ? [counts] : [];
    });
  }

  #isOfTable({ kind, of, database, id }: CatalogChange): boolean {
    if (of === 'schema' || kind === 'unlogged') return false;
    return kind !== 'altered' || this.#known.isTable(database, id);
  }

  /**
   * Whether transactions have changed a schema, in tables or other parts. A temporary table doesn't count, nor does one that
   * was only rewritten.
   */
  #changesSchema(ending: readonly Transaction[]): boolean {
    if (ending.some(({ isIncidental }) => isIncidental)) return false;
    return ending.some(({ rows }) => [...rows.keys()].some((key) => this.#known.catalogs.has(key)));
  }
}
