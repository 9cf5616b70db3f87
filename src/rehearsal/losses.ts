/**
 * What a rehearsed migration would have lost: values of columns that are gone, and rows, of which there are fewer than before. What
 * an update has replaced isn't counted.
 */
import type { Rehearsal, Relation } from '../api/records/rehearsal.ts';

/** Queries that return a number as `count`. */
export interface PossibleLoss {
  readonly database: string;
  /** Such as `public.users` or `public.users.nick`. */
  readonly name: string;
  readonly kind: 'values' | 'rows';
  /** On the data as they were before. */
  readonly before: string;
  /** On the data as they are afterwards; undefined if nothing is left. */
  readonly after?: string;
}

export interface Loss extends PossibleLoss {
  readonly count: number;
}

/** Only tables have data that can't be made again. */
const hasData = ({ kind }: Relation): boolean => kind === 'r' || kind === 'p';

/** @returns dropped columns and tables, and tables whose rows were changed or that were written again */
export function possibleLosses({ before, after, locks, rewritten }: Rehearsal): PossibleLoss[] {
  const now = new Map(after.map((each) => [keyOf(each), each]));
  const changed = new Set(
    [...rewritten, ...locks.filter(({ mode }) => mode === 'RowExclusiveLock')].map(keyOf),
  );
  return before.filter(hasData).flatMap((table): PossibleLoss[] => {
    const { database, name } = table;
    const same = now.get(keyOf(table));
    if (same === undefined) return [{ database, name, kind: 'rows', before: rowsOf(name) }];
    const columns = Object.entries(table.columns).flatMap(([number, column]): PossibleLoss[] => {
      if (number in same.columns) return [];
      const values = `select count(${quotedName(column.name)})::float8 as count from only ${name}`;
      return [{ database, name: `${name}.${column.name}`, kind: 'values', before: values }];
    });
    if (!changed.has(keyOf(table))) return columns;
    return [...columns, { database, name, kind: 'rows', before: rowsOf(name), after: rowsOf(same.name) }];
  });
}

const keyOf = ({ database, id }: { readonly database: string; readonly id: number }): string =>
  `${id} ${database}`;

const rowsOf = (name: string): string => `select count(*)::float8 as count from only ${name}`;

const quotedName = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Columns that have another type now. */
export function retypedColumns({ before, after }: Rehearsal): string[] {
  const now = new Map(after.map((each) => [keyOf(each), each]));
  return before.filter(hasData).flatMap((table) =>
    Object.entries(table.columns).flatMap(([number, { name, type }]) => {
      const same = now.get(keyOf(table))?.columns[number];
      return same === undefined || same.type === type
        ? []
        : [`${table.name}.${name}: ${type} → ${same.type}`];
    }),
  );
}
