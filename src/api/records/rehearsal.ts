/**
 * What a rehearsal has seen: statements, the locks that they held, and what has become of tables. Only the local service returns this.
 * All times are milliseconds since the rehearsal began.
 */

/** Lock modes of tables, weakest first, as Postgres names them in `pg_locks` (manual, "Table-Level Locks"). */
export const LOCK_MODES = [
  'AccessShareLock',
  'RowShareLock',
  'RowExclusiveLock',
  'ShareUpdateExclusiveLock',
  'ShareLock',
  'ShareRowExclusiveLock',
  'ExclusiveLock',
  'AccessExclusiveLock',
] as const;
export type LockMode = (typeof LOCK_MODES)[number];

/** A lock that a session has held on a table or index. */
export interface HeldLock {
  readonly database: string;
  /** The id of the table, materialized view, view or sequence; for an index, of its table. */
  readonly id: number;
  /** The name of the table, with its schema. */
  readonly table: string;
  /** The index that is locked; missing for a lock of the table itself. */
  readonly index?: string;
  readonly mode: LockMode;
  /**
   * When the lock was first seen. That is later than when it was taken, by at most a tenth of the time for which its statement had run
   * by then.
   */
  readonly from: number;
  /** When the lock was released: at the end of its transaction, or earlier. */
  readonly to: number;
  /** The index of the statement during which the lock was first seen. */
  readonly statement: number;
  /**
   * How many older rows the transaction of the lock has changed, deleted or locked; missing if the transaction was short, or if another
   * session waited to lock the table.
   */
  readonly rows?: number;
}

/** A statement that ran during the rehearsal. */
export interface RehearsedStatement {
  readonly session: number;
  /** The number of the transaction in the rehearsal. */
  readonly transaction: number;
  /** The statement, or the beginning of a long one. Several statements, if the client has sent them together. */
  readonly text: string;
  readonly from: number;
  /** How long the statement took, without the time that the observer has taken. */
  readonly milliseconds: number;
  /**
   * The command tags of Postgres, such as `UPDATE 40`. There are several if the client has sent several statements
   * together.
   */
  readonly tags: readonly string[];
  readonly error?: StatementError;
  /** Set if the connection ended within a transaction that had written, which Postgres has rolled back. */
  readonly isUncommitted?: true;
  /** Where the statement, or its error, is: the line counts from 1. Missing if the statement isn't in a known file. */
  readonly place?: { readonly file: string; readonly line: number };
  /** Set if what ran the file has gone on after the error, because the statement is only for superusers. */
  readonly isSkipped?: true;
}

/** The fields of Postgres's error (manual, "Error and Notice Message Fields"). */
export interface StatementError {
  readonly code: string;
  readonly message: string;
  readonly detail?: string;
  /** The character of the statement, from 1. */
  readonly position?: number;
}

/** A table (`r`), partitioned table (`p`), materialized view (`m`), index (`i`) or sequence (`S`). */
export interface Relation {
  readonly database: string;
  readonly id: number;
  /** The name with its schema, quoted if necessary. */
  readonly name: string;
  readonly kind: string;
  /** Whether Postgres doesn't log the relation's rows, so that a copy of the branch may have none of them. */
  readonly isUnlogged?: boolean;
  /** The relation's file node, which changes if Postgres rewrites the relation. */
  readonly file: number;
  readonly bytes: number;
  /** How many rows of the relation were changed or deleted so far. This is missing while a session is open that may have done more. */
  readonly writes?: number | undefined;
  /** The columns by their numbers. */
  readonly columns: Readonly<Record<string, RelationColumn>>;
  /** The constraints by their names. Missing for a table without any. */
  readonly constraints?: Readonly<Record<string, Constraint>>;
}

interface RelationColumn {
  readonly name: string;
  readonly type: string;
  /** Whether the type is a domain with a constraint. */
  readonly isChecked?: boolean;
}

/** A constraint of a table. */
export interface Constraint {
  /** The kind as Postgres names it in `pg_constraint.contype`, such as `f` for a foreign key. */
  readonly kind: string;
  readonly isValidated: boolean;
  /** The numbers of the constraint's columns. */
  readonly columns: readonly number[];
  /** The id of the table that a foreign key refers to; 0 for other constraints. */
  readonly refersTo: number;
}

/** What was seen of a rehearsal so far: statements, locks, and the relations before and after. */
export interface Rehearsal {
  readonly statements: readonly RehearsedStatement[];
  readonly locks: readonly HeldLock[];
  readonly before: readonly Relation[];
  readonly after: readonly Relation[];
  /** Why what was seen may be incomplete; absent if it is complete. */
  readonly problem?: string;
  /** The longest time between two samples, in milliseconds; missing if every statement was seen. */
  readonly sampled?: number;
}

/** Identifies a relation: the key is the same before and after the rehearsal. */
export const relationKey = ({ database, id }: { readonly database: string; readonly id: number }): string =>
  `${id} ${database}`;
