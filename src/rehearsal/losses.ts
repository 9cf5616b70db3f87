/**
 * What a rehearsed migration would have lost: values of columns that are gone or have another type, and rows, of which there are
 * fewer than before. What an update has replaced isn't counted.
 */
import { relationKey, type Rehearsal, type Relation } from '../api/records/rehearsal.ts';

/** Queries that return a number as `count`: of values or rows, or that is the same as long as the values are. */
export interface PossibleLoss {
  readonly database: string;
  /** Such as `public.users` or `public.users.nick`. */
  readonly name: string;
  readonly kind: 'values' | 'rows' | 'type';
  /** On the data as they were before. */
  readonly before: string;
  /** On the data as they are afterwards; undefined if nothing is left. */
  readonly after?: string;
  /** Both types of a column that has another one now. */
  readonly types?: string;
}

export interface Loss extends PossibleLoss {
  /** For a type 1: the values aren't the same, or Postgres can't compare them. */
  readonly count: number;
}

/** Only tables have data that can't be made again. */
const hasData = ({ kind }: Relation): boolean => kind === 'r' || kind === 'p';

/** @returns all columns and tables to be counted */
export function possibleLosses({ before, after, locks }: Rehearsal): PossibleLoss[] {
  const now = new Map(after.map((each) => [relationKey(each), each]));
  const changed = new Set(locks.filter(({ mode }) => mode === 'RowExclusiveLock').map(relationKey));
  return before.filter(hasData).flatMap((table): PossibleLoss[] => {
    const { database, name } = table;
    const same = now.get(relationKey(table));
    if (same === undefined) return [{ database, name, kind: 'rows', before: rowsOf(name) }];
    const columns = columnLosses(table, same);
    if (!changed.has(relationKey(table)) && table.file === same.file) return columns;
    return [...columns, { database, name, kind: 'rows', before: rowsOf(name), after: rowsOf(same.name) }];
  });
}

function columnLosses(table: Relation, same: Relation): PossibleLoss[] {
  const { database, name } = table;
  return Object.entries(table.columns).flatMap(([number, { name: column, type }]): PossibleLoss[] => {
    const [shown, quoted, left] = [`${name}.${column}`, quotedName(column), same.columns[number]];
    if (left === undefined)
      return [
        {
          database,
          name: shown,
          kind: 'values',
          before: `select count(${quoted})::float8 as count from only ${name}`,
        },
      ];
    if (left.type === type) return [];
    const query = (value: string, from: string) =>
      `select coalesce(sum(hashtextextended((${value})::text, 0)), 0)::text as count from only ${from}`;
    const types = `${type} → ${left.type}`;
    const backAgain = `${quotedName(left.name)}::${type}`;
    return [
      {
        database,
        name: shown,
        kind: 'type',
        before: query(quoted, name),
        after: query(backAgain, same.name),
        types,
      },
    ];
  });
}

const rowsOf = (name: string): string => `select count(*)::float8 as count from only ${name}`;

const quotedName = (name: string): string => `"${name.replaceAll('"', '""')}"`;
