/**
 * The statements that compare rows. They contain the user's statements, so they run with the user's `search_path`, and qualify all
 * names and operators of ours. Each server hashes its own rows, so that only rows of ranges that differ are sent. The hashes are
 * of values as Postgres prints them: every type has such a text, and those of 1.0 and 1.00 differ, although `=` doesn't see that.
 */
import type { FieldDef } from 'pg';
import { MAX_VALUE_TEXT } from './formatRows.ts';
import { quoteName } from '../../../base/sql/quote.ts';

/** A table or query on one side, with the columns that both sides have. */
export interface ComparedSource {
  /** The text of one statement. */
  readonly sql: string;
  /** The number of all columns. */
  readonly count: number;
  /** The positions of the common columns, in the order of display. */
  readonly shared: readonly number[];
  /** The positions of the primary key, in its order; empty without one. */
  readonly key: readonly number[];
  /** The types of all columns. */
  readonly types: readonly number[];
  /** The positions of columns that have another type on the other side: they are compared as the texts that are shown. */
  readonly converted: ReadonlySet<number>;
  /** Whether the source is a statement, which decides the order of its rows. The rows of a table are sorted here. */
  readonly isOrdered: boolean;
}

const BYTEA = 17;
/** The OIDs of types with an order: booleans, bytea, texts, numbers, oid, times and uuid. */
const SORTABLE: ReadonlySet<number> = new Set([
  16, 17, 18, 19, 20, 21, 23, 25, 26, 700, 701, 790, 1042, 1043, 1082, 1083, 1114, 1184, 1700, 2950,
]);

/** Returns a name for the column at a position. No function or column of a user has such a name. */
const columnName = (position: number): string => quoteName(`compared ${position}`);

const fromRows = ({ sql, count }: ComparedSource): string =>
  // The line break ends a comment that may be at the end of the statement.
  `(${sql}\n) AS "compared rows" (${Array.from({ length: count }, (_, index) => columnName(index)).join(', ')})`;

const hashExpression = (text: string): string =>
  `pg_catalog.hashtextextended(${text} COLLATE pg_catalog."C", 0)`;

/**
 * Returns SQL for the text of a row. `bytea` values are hashed first: as text they would be twice as long, and could exceed the
 * limit for a text.
 */
const rowTextExpression = (source: ComparedSource, positions: readonly number[]): string => {
  const values = positions.map((at) => {
    if (source.converted.has(at)) return `${columnName(at)}::pg_catalog.text`;
    return isBytes(source, at) ? `pg_catalog.sha256(${columnName(at)})` : columnName(at);
  });
  return `ROW(${values.join(', ')})::pg_catalog.text`;
};

const isBytes = ({ types, converted }: ComparedSource, at: number): boolean =>
  types[at] === BYTEA && !converted.has(at);

const rowHashExpression = (source: ComparedSource): string =>
  hashExpression(rowTextExpression(source, source.shared));
/** Returns the hash of a row's key. Without a primary key, the whole row is the key. */
const keyHashExpression = (source: ComparedSource): string =>
  source.key.length === 0 ? rowHashExpression(source) : hashExpression(rowTextExpression(source, source.key));

/**
 * Returns a query for a hash of the rows of each range of keys, with the number of the range.
 * @param ranges a power of two
 */
export function rangeHashesQuery(source: ComparedSource, ranges: number): string {
  const rows = fromRows(source);
  const hashed =
    source.key.length === 0
      ? // Without the offset, Postgres would hash each row twice.
        `SELECT h AS k, h FROM (SELECT ${rowHashExpression(source)} AS h FROM ${rows} OFFSET 0) AS once`
      : `SELECT ${keyHashExpression(source)} AS k, ${rowHashExpression(source)} AS h FROM ${rows}`;
  const text = "pg_catalog.concat(pg_catalog.count(*), ' ', pg_catalog.sum(h))";
  return `SELECT k OPERATOR(pg_catalog.&) ${ranges - 1} AS range, ${hashExpression(text)} AS hash FROM (${hashed}) AS hashed GROUP BY 1`;
}

/** A bit for each range, set if its rows are read. Undefined to read the rows of all ranges. */
export type RangeMask = Uint8Array | undefined;

/** Declares a cursor for the rows of some ranges: hash of the key, hash of the row, place in the order, and values. */
export function declareRowCursor(source: ComparedSource, ranges: RangeMask): string {
  const columns = source.shared.map(columnName);
  const filter =
    ranges === undefined
      ? ''
      : `WHERE pg_catalog.get_bit('\\x${Buffer.from(ranges).toString('hex')}'::pg_catalog.bytea, (k OPERATOR(pg_catalog.&) ${ranges.length * 8 - 1})::pg_catalog.int4) OPERATOR(pg_catalog.=) 1`;
  return `DECLARE "compared" NO SCROLL CURSOR FOR
    SELECT k, h, place, ${source.shared.map((at) => shownValueExpression(source, at)).join(', ')} FROM (
      SELECT k, ${source.key.length === 0 ? 'k' : rowHashExpression(source)} AS h, pg_catalog.row_number() OVER (${orderClause(source)}) AS place,
        ${columns.join(', ')}
      FROM (SELECT ${keyHashExpression(source)} AS k, * FROM ${fromRows(source)} ${source.key.length === 0 ? 'OFFSET 0' : ''}) AS keyed ${filter}
      ORDER BY k OFFSET 0) AS sorted`;
}

/** Reads the next rows of the cursor {@link declareRowCursor}. */
export const FETCH_ROWS = 'FETCH 1000 FROM "compared"';

/** Returns the order of rows; empty for a query, whose own order counts. */
function orderClause(source: ComparedSource): string {
  const { key, shared, types, isOrdered } = source;
  if (isOrdered) return '';
  if (key.length > 0) return `ORDER BY ${key.map(columnName).join(', ')}`;
  const sortable = shared.filter((at) => SORTABLE.has(types[at] ?? 0)).map(columnName);
  return `ORDER BY ${[...sortable, rowTextExpression(source, shared)].join(', ')}`;
}

/** A long value is cut, and its length and hash show whether it differs. */
function shownValueExpression(source: ComparedSource, at: number): string {
  const bytes = isBytes(source, at);
  const value = bytes ? columnName(at) : `${columnName(at)}::pg_catalog.text`;
  const length = bytes ? `pg_catalog.octet_length(${value})` : `pg_catalog.length(${value})`;
  const max = bytes ? MAX_VALUE_TEXT / 2 : MAX_VALUE_TEXT;
  const start = bytes
    ? `pg_catalog.substring(${value}, 1, ${max})::pg_catalog.text`
    : `pg_catalog.left(${value}, ${max})`;
  const whole = bytes ? `pg_catalog.encode(pg_catalog.sha256(${value}), 'hex')` : value;
  const mark = `pg_catalog.concat(${start}, '… ', ${length}, ' #', pg_catalog.to_hex(${hashExpression(whole)}))`;
  return `CASE WHEN ${length} OPERATOR(pg_catalog.>) ${max} THEN ${mark} ELSE ${value}::pg_catalog.text END`;
}

/** Returns the positions of the columns that both sides have, paired by name. Names of a query may occur more than once. */
export function sharedColumns(
  before: readonly FieldDef[],
  after: readonly FieldDef[],
): readonly (readonly [before: number, after: number])[] {
  const places = new Map<string, number[]>();
  for (const [index, { name }] of before.entries()) places.set(name, [...(places.get(name) ?? []), index]);
  return after.flatMap(({ name }, index) => {
    const place = places.get(name)?.shift();
    return place === undefined ? [] : [[place, index] as const];
  });
}
