/** What engines know and keep of the history of branches. */
import type { PointInTime } from '../../api/records/pointInTime.ts';

/** A moment in the history of a branch. */
export type Moment = PointInTime;

/** The range of a branch's history. */
export interface HistoryRange {
  /** The earliest moment, as a time (ISO 8601) and as a position (LSN). */
  readonly start: string;
  readonly startLsn: string;
  /** Whether the history reaches back to the creation of the data. */
  readonly isWhole: boolean;
  /** The latest moment. */
  readonly endLsn: string;
  /** The position after the last transaction that ended until the given time. Missing for a time before the history. */
  readonly lsnOfTime?: string;
}

/** The bytes that a branch takes on the disk. */
export interface BranchSize {
  readonly databases: number;
  /** The WAL and the copies of the data. Child branches may share them. */
  readonly history: number;
}

/** What committed transactions have done to a table. */
export interface TableChange {
  readonly database: string;
  /** Missing for the database itself. */
  readonly schema?: string | undefined;
  /** The name of the table. If it was dropped, this is its name at the moment. */
  readonly name: string;
  /** The columns or the name of an `altered` table have changed. Another table has the name of a `replaced` one now. */
  readonly change?: 'created' | 'dropped' | 'replaced' | 'truncated' | 'altered' | undefined;
  /** The number of added rows. These counts begin after a truncation, and are 0 for an unlogged table. Each change of a row counts. */
  readonly added: number;
  readonly changed: number;
  readonly deleted: number;
}

/** The object ids of a database and a table, and the number of the file with its rows. */
export interface TableFile {
  readonly database: number;
  readonly table: number;
  readonly file: number;
}

/** A committed transaction that has changed rows of a table. */
export interface TableTransaction {
  /** The ids of the transaction and its subtransactions, as in `xmin`. */
  readonly ids: readonly number[];
  /** The moment just before the transaction (ISO 8601). */
  readonly before: string;
  /** The position of that moment. Missing if it isn't known. */
  readonly lsn?: string | undefined;
  /**
   * Whether what belongs to the new rows may have been done in earlier transactions, as a migration tool does that notes its steps
   * in this table. If so, the transaction has changed only this table, and since the one before it in this list, others have
   * changed something, or may have.
   */
  readonly late: boolean;
  readonly added: number;
  readonly changed: number;
  readonly deleted: number;
}

/** A series of transactions that have changed the schema of a branch, or have deleted many rows. */
export interface SchemaChange {
  /** The moment just before the first transaction (ISO 8601). */
  readonly before: string;
  /** The position of that moment. Missing if it isn't known. */
  readonly lsn?: string | undefined;
  /** The number of created tables. A created table doesn't count as altered as well. */
  readonly created: number;
  readonly altered: number;
  readonly dropped: number;
  readonly truncated: number;
  /** How many rows migration tools have added to the tables in which they note what they have applied. */
  readonly migrations: number;
  /** The number of deleted rows, if the schema wasn't changed. */
  readonly deleted?: number | undefined;
  /** Of how many tables these rows were. */
  readonly tables?: number | undefined;
}

/** A moment in the history of a branch, or of another (`branchId`) that has its data from before a restore. */
export type PastMoment = Moment & { readonly branchId: string };

/** How long the history of a branch is kept. */
export interface BranchRetention {
  readonly id: string;
  /** For how many seconds the history is kept; 0 for no history. */
  readonly seconds: number;
}

/** Limits for the history of branches, in bytes. */
export interface HistoryLimits {
  /** The most for the history of one branch, and for all. */
  readonly branch: number;
  readonly total: number;
  /**
   * A new copy of the data is made when the WAL since the last copy is as large as the data, within these two limits. Recovery
   * reads all WAL since a copy.
   */
  readonly leastWritten: number;
  readonly mostWritten: number;
  /** History is removed while less of the disk is free. By default 5 GB, or a tenth of a small disk. */
  readonly leastFree?: number;
}
