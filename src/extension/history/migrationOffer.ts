/**
 * Finds the moment just before a database got the migrations that a checkout has removed. It is found only if git and the
 * write-ahead log (WAL) of the database leave no doubt.
 */
import type { TableTransaction } from '../../api/records/records.ts';
import type { AppliedMigration, AppliedMigrations } from '../database/sql/appliedMigrations.ts';
import type { MigrationFiles } from './migrationFiles.ts';
import { filesNotedAs } from '../../migrations/filesNotedAs.ts';

interface RemovedMigrations {
  readonly later: ReadonlySet<AppliedMigration>;
  /** The names of the files of all other migrations. */
  readonly files: ReadonlySet<string>;
}

/**
 * Which rows of a table are of migrations that a checkout has removed.
 * @returns undefined if there are none, or if another row has no file
 */
export function removedMigrations(
  { removed, tracked, present, hashes }: MigrationFiles,
  rows: readonly AppliedMigration[],
): RemovedMigrations | undefined {
  const [removedNames, trackedNames] = [removed, tracked].map((files) => files.map(({ name }) => name));
  const later = new Set<AppliedMigration>();
  const files = new Set<string>();
  for (const row of rows) {
    if (filesNotedAs(row.name, present, hashes).length === 0) {
      if (filesNotedAs(row.name, removedNames ?? [], hashes).length === 0) return undefined;
      later.add(row);
    } else {
      const own = filesNotedAs(row.name, trackedNames ?? [], hashes);
      // Git doesn't have the file, so its text may have been another one.
      if (own.length === 0) return undefined;
      for (const name of own) files.add(name);
    }
  }
  return later.size === 0 ? undefined : { later, files };
}

interface LaterMigrations {
  /** The moment just before the first of the later migrations, as a time. Its position is `lsn`, if it is known. */
  readonly before: string;
  readonly lsn?: string;
  readonly count: number;
  /** The moment just before the first migration of the database; undefined if the WAL begins later. */
  readonly since: string | undefined;
}

/**
 * Finds the moment just before migrations that were applied later than all others.
 * @param applied the rows of a table of migrations
 * @param later the rows of these migrations
 * @param transactions what changed the table, in order
 * @returns undefined if the transactions don't show exactly these rows
 */
export function findLaterMigrations(
  applied: Pick<AppliedMigrations, 'rows' | 'areNotedFirst'>,
  later: ReadonlySet<AppliedMigration>,
  transactions: readonly TableTransaction[],
): LaterMigrations | undefined {
  const { rows, areNotedFirst } = applied;
  const nameOf = ({ name }: AppliedMigration) => name;
  const known = new Set(rows.filter(({ isApplied }) => isApplied).map(nameOf));
  if (rows.some((row) => !later.has(row) && !known.has(row.name))) return undefined;
  const ids = new Set<number>();
  let added = 0;
  for (const transaction of transactions.toReversed()) {
    added += transaction.added;
    for (const id of transaction.ids) ids.add(id);
    if (transaction.deleted > 0 || added > later.size) return undefined;
    if (added < later.size) continue;
    // The table got as many rows since then as there are later migrations. They are these migrations if exactly their rows were
    // written by these transactions.
    if (rows.some((row) => ids.has(row.transaction) !== later.has(row))) return undefined;
    // The migration may have run without a transaction, as part of the changes just before this row.
    if (transaction.late && !areNotedFirst) return undefined;
    const count = new Set([...later].map(nameOf)).size;
    const { before, lsn } = transaction;
    return { before, ...(lsn && { lsn }), count, since: momentBeforeFirst(applied, transactions) };
  }
  return undefined;
}

type Before = Pick<TableTransaction, 'before' | 'lsn'>;

/**
 * Whether `moment` is at or after `other`. If both have positions, these are compared, because times aren't ordered if the clock was
 * wrong.
 */
export function isAtOrAfter(moment: Before, other: Before): boolean {
  const [position, otherPosition] = [positionOf(moment), positionOf(other)];
  return position === undefined || otherPosition === undefined
    ? Date.parse(moment.before) >= Date.parse(other.before)
    : position >= otherPosition;
}

function positionOf({ lsn }: Before): bigint | undefined {
  const [, high, low] = /^([\da-f]+)\/([\da-f]+)$/i.exec(lsn ?? '') ?? [];
  return high === undefined || low === undefined
    ? undefined
    : (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`);
}

/** Returns the moment before the first row; undefined if the log lacks a row, or if the migration may have run before that moment. */
function momentBeforeFirst(
  { rows, areNotedFirst }: Pick<AppliedMigrations, 'rows' | 'areNotedFirst'>,
  transactions: readonly TableTransaction[],
): string | undefined {
  const [first] = transactions;
  if (first === undefined || (first.late && !areNotedFirst)) return undefined;
  const known = new Set(transactions.flatMap(({ ids }) => ids));
  return rows.every(({ transaction }) => known.has(transaction)) ? first.before : undefined;
}
