/**
 * Finds the moment just before a database got the migrations that the working tree doesn't have, so that it had exactly those of
 * the working tree. It is found only if the write-ahead log (WAL) of the database leaves no doubt.
 */
import type { TableTransaction } from '../../api/records/records.ts';
import type { AppliedMigrations } from './appliedMigrations.ts';
import { withoutLeadingZeros, type MigrationFile } from './migrationFiles.ts';

interface LaterMigrations {
  /** Just before the first of them. */
  readonly before: string;
  readonly count: number;
  /** Just before the first migration of the database; undefined if the WAL begins later. */
  readonly since: string | undefined;
}

/** @param files of the working tree @param applied of the database @param transactions of their table, in their order */
export function findLater(
  files: readonly MigrationFile[],
  applied: Pick<AppliedMigrations, 'rows' | 'areNotedFirst'>,
  transactions: readonly TableTransaction[],
): LaterMigrations | undefined {
  const { rows, areNotedFirst } = applied;
  const notes = new Set(files.flat());
  const later = new Set(rows.filter(({ name }) => !notes.has(withoutLeadingZeros(name))));
  const known = new Set(rows.flatMap(({ name, isApplied }) => (isApplied ? withoutLeadingZeros(name) : [])));
  if (later.size === 0 || !files.every((file) => file.some((note) => known.has(note)))) return undefined;
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
    const count = new Set([...later].map(({ name }) => name)).size;
    return { before: transaction.before, count, since: firstOf(applied, transactions) };
  }
  return undefined;
}

function firstOf(
  { rows, areNotedFirst }: Pick<AppliedMigrations, 'rows' | 'areNotedFirst'>,
  [first, ...others]: readonly TableTransaction[],
): string | undefined {
  if (first === undefined || (first.late && !areNotedFirst)) return undefined;
  const known = new Set([first, ...others].flatMap(({ ids }) => ids));
  return rows.every(({ transaction }) => known.has(transaction)) ? first.before : undefined;
}
