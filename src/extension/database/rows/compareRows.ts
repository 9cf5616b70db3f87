/**
 * Compares the rows of a table or query on two connections. Each side is one snapshot. First, both servers hash the rows of
 * many ranges of keys. Then the rows of the ranges that differ arrive in the order of the hashes of their keys and are merged,
 * so the memory doesn't depend on the number of rows.
 */
import type Client from 'pg/lib/client.js';
import Query from 'pg/lib/query.js';
import type { FieldDef } from 'pg';
import type { BranchLogin } from '../../connection/sqlSession.ts';
import { adviseOnLock, toSqlError, useUsersSearchPath, withSession } from '../../connection/sqlSession.ts';
import { rangeHashesQuery, sharedColumns, type ComparedSource, type RangeMask } from './comparisonSql.ts';
import { NUMBER_TYPES, type CellText } from './formatRows.ts';
import {
  findDifferingRows,
  NO_DIFFERENCE,
  type BeforeAndAfter,
  type RowDifference,
} from './findDifferingRows.ts';
import { describeColumns, USE_SERVER_ENCODING } from './readRows.ts';
import type { RowSource } from './rowDocuments.ts';
import { NotOneQueryError, requireOnlyStatement } from './statements.ts';

export interface RowComparison extends RowDifference {
  /** The columns that both sides have. */
  readonly columns: readonly string[];
  readonly rightAligned: ReadonlySet<number>;
  /** The places of the primary key in `columns`; empty without one, so that a changed row is a deleted and an added one. */
  readonly key: readonly number[];
  readonly onlyBefore: readonly string[];
  readonly onlyAfter: readonly string[];
}

/** Thrown if a side doesn't have the table. */
export class NoTableError extends Error {
  override readonly name = 'NoTableError';
  readonly side: 'before' | 'after';

  constructor(side: 'before' | 'after') {
    super(`The table doesn't exist ${side === 'before' ? 'on the other branch' : 'on the branch'}.`);
    this.side = side;
  }
}

/** The limit for each statement. */
export const COMPARE_SECONDS = 300;

/** The texts of values must not depend on settings of a role or database. */
const SESSION = {
  application: 'Hosted Postgres',
  begin: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY',
  timeoutSeconds: COMPARE_SECONDS,
  settings: {
    timezone: 'UTC',
    extra_float_digits: '1',
    intervalstyle: 'postgres',
    cursor_tuple_fraction: '1',
    work_mem: '64MB',
  },
};

/** Settings that change what a name means or how a value is printed. They may be set for a role, or a database of one branch. */
const SHARED = [
  'search_path',
  'lc_monetary',
  'lc_numeric',
  'lc_time',
  'quote_all_identifiers',
  'xmlbinary',
  'default_text_search_config',
];

/**
 * Gives the first side the settings of the second one, until its transaction ends. From then on, names are looked up as for the
 * user's statements.
 */
async function shareSettings([before, after]: BeforeAndAfter<Client>, login: BranchLogin): Promise<void> {
  await useUsersSearchPath(after, login);
  const { rows } = await after.query<{ settings: object }>(
    `SELECT pg_catalog.json_object_agg(name, pg_catalog.current_setting(name)) AS settings
      FROM pg_catalog.unnest($1::pg_catalog.text[]) AS shared (name)`,
    [SHARED],
  );
  await before.query(
    'SELECT pg_catalog.set_config(key, value, true) FROM pg_catalog.json_each_text($1::pg_catalog.json)',
    [rows[0]?.settings],
  );
}

/**
 * @param logins where to read: two branches, or one at two times
 * @throws {NotOneQueryError} @throws {NoTableError} @throws {SqlError} @throws {Error}
 */
export async function compareRows(
  logins: { readonly before: BranchLogin; readonly after: BranchLogin },
  source: RowSource,
  signal: AbortSignal,
): Promise<RowComparison> {
  const sql = requireOnlyStatement(source.sql);
  // If one side fails, the statement of the other one is canceled.
  const stop = new AbortController();
  const both = AbortSignal.any([signal, stop.signal]);
  let failure: unknown;
  const task = (clients: BeforeAndAfter<Client>) =>
    compare(clients, logins.after, { ...source, sql }).catch((error: unknown) => {
      failure = error;
      stop.abort();
      throw error;
    });
  try {
    return await withSession(logins.before, SESSION, both, (before) =>
      withSession(logins.after, SESSION, both, (after) => task([before, after])),
    );
  } catch (error) {
    if (failure === undefined || signal.aborted) throw error;
    await adviseOnLock(failure, signal);
    throw failure instanceof NotOneQueryError || failure instanceof NoTableError
      ? failure
      : toSqlError(failure);
  }
}

/** What is compared on one side. */
interface Shape {
  readonly fields: readonly FieldDef[];
  /** The names of the columns of the primary key. */
  readonly key: readonly string[];
  /** The size of the table; undefined if it isn't known. */
  readonly bytes: number | undefined;
}

async function compare(
  clients: BeforeAndAfter<Client>,
  login: BranchLogin,
  source: RowSource,
): Promise<RowComparison> {
  await onBoth(clients, (client) => client.query(USE_SERVER_ENCODING));
  await shareSettings(clients, login);
  const [before, after] = await onBoth(clients, (client, side) => readShape(client, source, side));
  const shared = sharedColumns(before.fields, after.fields);
  const [onlyBefore, onlyAfter] = [
    before.fields.filter((_, at) => !shared.some(([place]) => place === at)),
    after.fields.filter((_, at) => !shared.some(([, place]) => place === at)),
  ];
  // The order of a key's columns doesn't matter, because the key names the same row in any order.
  const keyNames = isSameKey(before.key, after.key) ? after.key : [];
  const converted = shared.filter(
    ([left, right]) => before.fields[left]?.dataTypeID !== after.fields[right]?.dataTypeID,
  );
  const sources = ([before, after] as const).map(({ fields }, side) => {
    const places = shared.map((pair) => pair[side === 0 ? 0 : 1]);
    return {
      sql: source.sql,
      count: fields.length,
      shared: places,
      key: keyNames.map((name) => places.find((at) => fields[at]?.name === name) ?? -1),
      types: fields.map(({ dataTypeID }) => dataTypeID),
      converted: new Set(converted.map((pair) => pair[side === 0 ? 0 : 1])),
      isOrdered: source.table === undefined,
    } satisfies ComparedSource;
  });
  const [left, right] = sources;
  if (before.fields.length === 0 && after.fields.length === 0)
    throw new Error('There are no columns to compare.');
  if (left === undefined || right === undefined || shared.length === 0)
    throw new Error('The two branches have no column in common.');
  const both: BeforeAndAfter<ComparedSource> = [left, right];
  const bytes = Math.max(before.bytes ?? UNKNOWN_BYTES, after.bytes ?? UNKNOWN_BYTES);
  const ranges = await differingRanges(clients, both, bytes);
  const fields = shared.map(([, at]) => after.fields[at]);
  return {
    columns: fields.map((field) => field?.name ?? ''),
    rightAligned: new Set(
      fields.flatMap((field, at) => (NUMBER_TYPES.has(field?.dataTypeID ?? 0) ? at : [])),
    ),
    key: right.key.map((at) => right.shared.indexOf(at)),
    ...(ranges === 'none' ? NO_DIFFERENCE : await findDifferingRows(clients, both, ranges)),
    onlyBefore: onlyBefore.map(({ name }) => name),
    onlyAfter: onlyAfter.map(({ name }) => name),
  };
}

const isSameKey = (before: readonly string[], after: readonly string[]): boolean =>
  before.toSorted().join('\0') === after.toSorted().join('\0');

/** The name of the table is looked up in the user's `search_path`, so the operators have to be qualified. */
const SHAPE = `
  SELECT named IS NULL AS "isMissing",
    (SELECT pg_catalog.pg_relation_size(oid) FROM pg_catalog.pg_class
      WHERE oid OPERATOR(pg_catalog.=) named AND relkind OPERATOR(pg_catalog.=) 'r') AS bytes,
    (SELECT pg_catalog.array_agg(attname::pg_catalog.text ORDER BY place) FROM pg_catalog.pg_index,
      pg_catalog.unnest(indkey) WITH ORDINALITY AS part (number, place)
      JOIN pg_catalog.pg_attribute ON attrelid OPERATOR(pg_catalog.=) named AND attnum OPERATOR(pg_catalog.=) number
      WHERE indrelid OPERATOR(pg_catalog.=) named AND indisprimary AND place OPERATOR(pg_catalog.<=) indnkeyatts) AS key
  FROM pg_catalog.to_regclass($1) AS named`;

async function readShape(client: Client, { sql, table }: RowSource, side: number): Promise<Shape> {
  const { rows } = await client.query<{ isMissing: boolean; bytes: string | null; key: string[] | null }>(
    SHAPE,
    [table ?? null],
  );
  const { isMissing = false, bytes = null, key = null } = rows[0] ?? {};
  if (table !== undefined && isMissing) throw new NoTableError(side === 0 ? 'before' : 'after');
  const fields = await describeColumns(client, sql);
  return { fields, key: key ?? [], bytes: bytes === null ? undefined : Number(bytes) };
}

const onBoth = async <T>(
  [before, after]: BeforeAndAfter<Client>,
  task: (client: Client, side: number) => Promise<T>,
): Promise<BeforeAndAfter<T>> => await Promise.all([task(before, 0), task(after, 1)]);

/** The size from which ranges are hashed first. A smaller table is sent as a whole. */
const MIN_BYTES = 4 * 1024 * 1024;
/** The size of a view or query isn't known, so this one is assumed. */
const UNKNOWN_BYTES = 64 * 1024 * 1024;
/** About how many bytes of rows a range has. There are at most 2 ** 20 ranges. */
const RANGE_BYTES = 1024;

/** Returns the ranges whose rows differ; undefined if the rows of all ranges have to be read. */
async function differingRanges(
  clients: BeforeAndAfter<Client>,
  sources: BeforeAndAfter<ComparedSource>,
  bytes: number,
): Promise<RangeMask | 'none'> {
  if (bytes < MIN_BYTES) return undefined;
  const count = 2 ** Math.min(20, Math.ceil(Math.log2(bytes / RANGE_BYTES)));
  const [before, after] = await onBoth(clients, async (client, side) => {
    const hashes = new BigInt64Array(count);
    await forEachRow(client, rangeHashesQuery(sources[side === 0 ? 0 : 1], count), ([range, hash]) => {
      hashes[Number(range)] = BigInt(hash ?? 0);
    });
    return hashes;
  });
  const ranges = new Uint8Array(count / 8);
  let differing = 0;
  for (let range = 0; range < count; range += 1) {
    if (before[range] === after[range]) continue;
    differing += 1;
    ranges[range >> 3] = (ranges[range >> 3] ?? 0) | (1 << (range & 7));
  }
  if (differing === 0) return 'none';
  return differing > count / 2 ? undefined : ranges;
}

/** Reads rows one by one and keeps none of them. */
async function forEachRow(
  client: Client,
  text: string,
  use: (row: readonly CellText[]) => void,
): Promise<void> {
  const config = { text, rowMode: 'array' };
  const query = new Query(config);
  query.on('row', use);
  const ended = new Promise<void>((resolve, reject) => {
    query.on('end', () => resolve());
    query.on('error', reject);
  });
  client.query(query);
  await ended;
}
