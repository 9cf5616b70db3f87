/**
 * Finds what a rehearsed migration would have lost. Rows are lost if there are fewer than before. Values are lost if their column is
 * gone, has another type, or is empty in more rows. A value that an update has replaced by another one isn't counted.
 */
import { relationKey, type Rehearsal, type Relation } from '../api/records/rehearsal.ts';

interface Counted {
  readonly database: string;
  /** The ids of the table, and of the one that has its name afterwards if it is gone. Its name can change in between. */
  readonly tables: readonly number[];
  /** The name of the table or column, such as `public.users` or `public.users.nick`. */
  readonly name: string;
  /** What may be lost. That of an unlogged table isn't counted. */
  readonly kind: 'values' | 'rows' | 'type' | 'unlogged';
  /** The column; missing for the rows of a table. */
  readonly column?: string;
  /** What has become of the table or column. A replaced one has the name of another one from before. */
  readonly fate: 'kept' | 'gone' | 'replaced';
  /** The former and the present type of a column whose type has changed. */
  readonly types?: string;
}

/**
 * Rows or values that may be lost, and the queries that count them. Each query returns `counts`, an array with a text for each item
 * of `counted`: the number of its rows or values. For the kind `type`, the text stays the same as long as the values do.
 */
export interface PossibleLoss {
  readonly database: string;
  /** Rows come first: if there are fewer, their values aren't counted as well. */
  readonly counted: readonly Counted[];
  /** The query for the data as they were before the migration. */
  readonly before: string;
  /**
   * The queries for the data as they are afterwards. The values are the same if any of these queries returns what `before` returns.
   * Empty if the table or the columns are gone.
   */
  readonly after: readonly string[];
}

/** The rows of a table or the values of a column, and how many of them are lost. */
export interface DataLoss extends Counted {
  /**
   * How many rows or values are lost; negative if there are more rows than before. For the kind `type`, it is 1 if the values differ
   * or Postgres can't compare them, and otherwise 0. For the kind `unlogged`, it is 1.
   */
  readonly count: number;
}

/** Whether the relation is a table. Only tables have data that can't be made again. */
const hasData = ({ kind }: Relation): boolean => kind === 'r' || kind === 'p';

interface LossOptions {
  /** Whether to find also values that an update has replaced by others. */
  readonly areValuesCompared?: boolean;
}

/** Finds the tables and columns whose rows and values must be counted, without those of unlogged tables. */
export const possibleLosses = (rehearsal: Rehearsal, options?: LossOptions): PossibleLoss[] =>
  lossesOfTables(
    rehearsal,
    rehearsal.before.filter((table) => hasData(table) && table.isUnlogged !== true),
    options,
  );

/**
 * Finds the unlogged tables and their columns that may lose rows or values. These can't be counted: whether a copy has the rows depends
 * on whether the branch was idle when it was made.
 */
export function unloggedLosses(rehearsal: Rehearsal): DataLoss[] {
  const after = new Map(rehearsal.after.map((each) => [relationKey(each), each]));
  const unlogged = rehearsal.before.filter(({ kind, isUnlogged }) => kind === 'r' && isUnlogged === true);
  return unlogged.flatMap((table) => {
    const same = after.get(relationKey(table));
    const isEmptied = same !== undefined && table.bytes > 0 && same.bytes === 0;
    // If the writes aren't counted, any row may have been written.
    const isUnwritten = same?.writes !== undefined && same.writes === table.writes;
    return lossesOfTables(rehearsal, [table]).flatMap(({ counted: [first] }): DataLoss[] => {
      // A table that is only written again keeps its rows.
      const isOnlyRewritten = first?.kind === 'rows' && first.fate === 'kept' && !isEmptied && isUnwritten;
      return first === undefined || isOnlyRewritten ? [] : [{ ...first, kind: 'unlogged', count: 1 }];
    });
  });
}

/** Returns the names of unlogged tables of which the copy has no rows, which may be because it is a copy. */
export const emptyUnloggedTables = ({ before }: Rehearsal): string[] =>
  before
    .filter(({ kind, isUnlogged, bytes }) => kind === 'r' && isUnlogged === true && bytes === 0)
    .map(({ name }) => name);

function lossesOfTables(
  { after, locks }: Rehearsal,
  tables: readonly Relation[],
  { areValuesCompared = false }: LossOptions = {},
): PossibleLoss[] {
  const byId = new Map(after.map((each) => [relationKey(each), each]));
  const byName = new Map(after.map((each) => [nameKey(each), each]));
  const changed = new Set(locks.filter(({ mode }) => mode === 'RowExclusiveLock').map(relationKey));
  return tables.flatMap((table): PossibleLoss[] => {
    const kept = byId.get(relationKey(table));
    // Some tools replace a table by a new one with the same name.
    const same = kept ?? byName.get(nameKey(table));
    if (same === undefined) return [possibleLoss([table], [{ ...ROWS, fate: 'gone' }], [])];
    const columns = pairColumns(table, same);
    // Rows that were only added lose nothing. Of a way back, they are counted as well.
    const areWritesCounted = table.writes !== undefined && same.writes !== undefined;
    const isChanged =
      ((areValuesCompared || !areWritesCounted) && changed.has(relationKey(table))) ||
      (areWritesCounted && table.writes !== same.writes) ||
      table.file !== same.file ||
      columns.some(({ isNew }) => isNew);
    return [
      ...lossesOfGoneColumns(table, same, columns),
      ...columns.flatMap((pair) => lossesOfChangedType(table, same, pair)),
      ...(isChanged ? [lossOfRowsAndValues(table, same, columns, { areValuesCompared })] : []),
    ];
  });
}

/** Compares what the queries have returned before and after the migration. */
export function lossesFromCounts(
  { counted }: PossibleLoss,
  old: readonly string[],
  now: readonly string[],
): DataLoss[] {
  const fewer = counted.map((_, index) => Number(old[index]) - Number(now[index] ?? 0));
  const [rows = 0] = counted[0]?.kind === 'rows' ? fewer : [];
  return counted.map((each, index) => {
    const count = fewer[index] ?? 0;
    if (each.kind === 'rows') return { ...each, count };
    // If there are more or fewer rows, their values can't be compared with those from before.
    if (each.kind === 'type') return { ...each, count: rows === 0 && old[index] !== now[index] ? 1 : 0 };
    return { ...each, count: rows > 0 ? 0 : Math.max(0, count) };
  });
}

/** Returns the losses, but not the changed type of a column that also has fewer values. */
export function actualLosses(losses: readonly DataLoss[]): DataLoss[] {
  const found = losses.filter(({ count }) => count > 0);
  return found.filter(
    ({ kind, database, name }) =>
      kind !== 'type' ||
      !found.some((other) => other.kind === 'values' && other.database === database && other.name === name),
  );
}

interface Column {
  readonly name: string;
  readonly type: string;
}

/** A column before and after the migration. */
interface Pair {
  readonly column: Column;
  /** The column afterwards: the one with the same number, or else another one with the same name; undefined if there is none. */
  readonly left: Column | undefined;
  /** Whether `left` is another column with the same name. */
  readonly isNew: boolean;
}

function pairColumns(table: Relation, same: Relation): Pair[] {
  const byName = new Map(Object.values(same.columns).map((column) => [column.name, column]));
  return Object.entries(table.columns).map(([number, column]) => {
    const kept = table.id === same.id ? same.columns[number] : undefined;
    const left = kept ?? byName.get(column.name);
    return { column, left, isNew: left !== kept };
  });
}

/** An expression that counts the rows of a table or the values of a column. */
interface Count {
  readonly kind: Counted['kind'];
  readonly fate: Counted['fate'];
  /** Missing for the whole table. */
  readonly column?: Column;
  readonly types?: string;
  readonly sql: string;
}

const ROWS = { kind: 'rows', sql: 'count(*)' } as const;

const countOfValues = (column: Column, fate: Counted['fate']): Count => ({
  kind: 'values',
  fate,
  column,
  sql: `count(${quotedName(column.name)})`,
});

const possibleLoss = (
  [{ database, name, id }, same]: readonly [table: Relation, same?: Relation],
  counts: readonly Count[],
  after: readonly string[],
) => ({
  database,
  counted: counts.map(({ kind, fate, column, types }) => ({
    database,
    tables: same === undefined || same.id === id ? [id] : [id, same.id],
    name: column === undefined ? name : `${name}.${column.name}`,
    kind,
    fate,
    ...(column !== undefined && { column: column.name }),
    ...(types !== undefined && { types }),
  })),
  before: countsQuery(name, counts),
  after,
});

function lossesOfGoneColumns(table: Relation, same: Relation, columns: readonly Pair[]): PossibleLoss[] {
  const gone = columns
    .filter(({ left }) => left === undefined)
    .map(({ column }) => countOfValues(column, 'gone'));
  return gone.length === 0 ? [] : [possibleLoss([table, same], gone, [])];
}

function lossOfRowsAndValues(
  table: Relation,
  same: Relation,
  columns: readonly Pair[],
  { areValuesCompared }: { readonly areValuesCompared: boolean },
): PossibleLoss {
  const kept = columns.flatMap(({ column, left, isNew }) =>
    left === undefined ? [] : [[column, left, isNew ? 'replaced' : 'kept'] as const],
  );
  const compared = areValuesCompared ? kept.filter(([column, left]) => column.type === left.type) : [];
  const countsOnSide = (at: 0 | 1): Count[] => [
    { ...ROWS, fate: table.id === same.id ? 'kept' : 'replaced' },
    ...kept.map((pair) => countOfValues(pair[at], pair[2])),
    ...compared.map((pair) => sumOfValueHashes(pair[at], quotedName(pair[at].name), pair[2])),
  ];
  return possibleLoss([table, same], countsOnSide(0), [countsQuery(same.name, countsOnSide(1))]);
}

/** Returns a count whose result is the same as long as all values are the same as text. */
const sumOfValueHashes = (column: Column, value: string, fate: Counted['fate']): Count => ({
  kind: 'type',
  fate,
  column,
  sql: `coalesce(sum(hashtextextended((${value})::text, 0)), 0)`,
});

/**
 * Returns what a changed type may lose: nothing if the values are the same after Postgres has cast them back, or are the same as
 * text.
 */
function lossesOfChangedType(table: Relation, same: Relation, { column, left, isNew }: Pair): PossibleLoss[] {
  if (left === undefined || left.type === column.type) return [];
  const asText = (value: string): Count => ({
    ...sumOfValueHashes(column, value, isNew ? 'replaced' : 'kept'),
    types: `${column.type} → ${left.type}`,
  });
  const now = quotedName(left.name);
  const after = [`${now}::${column.type}`, now].map((value) => countsQuery(same.name, [asText(value)]));
  return [possibleLoss([table, same], [asText(quotedName(column.name))], after)];
}

const countsQuery = (table: string, counts: readonly Count[]): string =>
  `select array[${counts.map(({ sql }) => `${sql}::text`).join(', ')}] as counts from only ${table}`;

const quotedName = (name: string): string => `"${name.replaceAll('"', '""')}"`;

const nameKey = ({ database, name, kind }: Relation): string => JSON.stringify([database, name, kind]);
