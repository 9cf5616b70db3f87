/**
 * Reads the first rows of a table or query, in a read-only transaction with a limit of time. The server cuts long values, so that a row of 1 GB never arrives.
 */
import type { Connection, FieldDef, Submittable } from 'pg';
import type Client from 'pg/lib/client.js';
import { isKeyword, tokensOf } from '../../../base/sql/sqlTokens.ts';
import type { BranchLogin } from '../../connection/sqlSession.ts';
import { useUsersSearchPath, withSession, type SessionOptions } from '../../connection/sqlSession.ts';
import { runStatement } from '../sql/sqlStatement.ts';
import { MAX_VALUE_TEXT, NUMBER_TYPES, type RowTable } from './formatRows.ts';
import { NotOneQueryError, requireOnlyStatement } from './statements.ts';

const MAX_PEEKED_ROWS = 200;
/** The columns that are read of a row, which has up to 1,664. */
const MAX_COLUMNS = 100;
/** The most characters of all values. */
const MAX_TEXT = 1_000_000;
/** The limit for each statement that reads rows. */
export const READ_SECONDS = 15;

export interface PeekedRows extends RowTable {
  /** Whether there are more rows. */
  readonly hasMore: boolean;
  readonly columnsLeftOut: number;
  /** The most characters of a value. */
  readonly maxValue: number;
}

/** @param sql one statement @throws {NotOneQueryError} @throws {SqlError} @throws {Error} */
export async function peekRows(login: BranchLogin, sql: string, signal: AbortSignal): Promise<PeekedRows> {
  const query = requireOnlyStatement(sql);
  return await withReadOnlySession(login, signal, async (client) => {
    await useUsersSearchPath(client, login);
    const fields = await describeColumns(client, query);
    const shown = fields.slice(0, MAX_COLUMNS);
    const isWrapped = isWrappable(query) && fields.every(({ dataTypeID }) => dataTypeID !== VOID);
    const { rows, truncated } = await runStatement(client, {
      sql: isWrapped ? cutOnServer(query, fields.length, shown) : query,
      write: false,
      maxRows: MAX_PEEKED_ROWS,
      maxText: MAX_TEXT,
    });
    return {
      columns: shown.map(({ name }) => name),
      rows: rows.map((row) => row.slice(0, MAX_COLUMNS)),
      rightAligned: new Set(
        shown.flatMap(({ dataTypeID }, index) => (NUMBER_TYPES.has(dataTypeID) ? index : [])),
      ),
      hasMore: truncated,
      columnsLeftOut: fields.length - shown.length,
      maxValue: isWrapped ? MAX_VALUE_TEXT : Number.MAX_SAFE_INTEGER,
    };
  });
}

/** A database without an encoding may have bytes that are no text. */
export const USE_SERVER_ENCODING = `SELECT pg_catalog.set_config('client_encoding', 'SQL_ASCII', true)
  WHERE pg_catalog.current_setting('server_encoding') = 'SQL_ASCII'`;

/** Runs a task in a read-only transaction with a time limit. @throws {SqlError} and what the task throws, such as {@link NotOneQueryError} */
export async function withReadOnlySession<T>(
  login: BranchLogin,
  signal: AbortSignal,
  task: (client: Client) => Promise<T>,
): Promise<T> {
  try {
    return await withSession(login, READING, signal, async (client) => {
      await client.query(USE_SERVER_ENCODING);
      return await task(client);
    });
  } catch (error) {
    throw error instanceof Error && error.cause instanceof NotOneQueryError ? error.cause : error;
  }
}

const READING: SessionOptions = {
  application: 'Hosted Postgres',
  begin: 'BEGIN READ ONLY',
  timeoutSeconds: READ_SECONDS,
};

/** Whether a statement can be the source of another. `EXPLAIN` and `SHOW` can't. */
function isWrappable(sql: string): boolean {
  for (const token of tokensOf(sql))
    if (token.text !== '(')
      return ['select', 'values', 'table', 'with'].some((word) => isKeyword(token, word));
  return false;
}

const BYTEA = 17;
const VOID = 2278;

/**
 * Returns a query whose values the server cuts. Each value has one character more than is shown, from which the client knows that
 * it is longer. The names can't be those of a user's function.
 */
function cutOnServer(query: string, count: number, shown: readonly FieldDef[]): string {
  const names = Array.from({ length: count }, (_, index) => `"peeked ${index + 1}"`);
  const values = shown.map(({ dataTypeID }, index) =>
    dataTypeID === BYTEA
      ? `pg_catalog.substring(${names[index]}, 1, ${MAX_VALUE_TEXT / 2})::pg_catalog.text`
      : `pg_catalog.left(${names[index]}::pg_catalog.text, ${MAX_VALUE_TEXT + 1})`,
  );
  const columns = names.length === 0 ? '' : ` (${names.join(', ')})`;
  // The line break ends a comment that may be at the end of the statement.
  return `SELECT ${values.join(', ')} FROM (${query}\n) AS "peeked rows"${columns} LIMIT ${MAX_PEEKED_ROWS + 1}`;
}

/**
 * Returns the columns of a statement's result, without running the statement.
 * @throws {NotOneQueryError} if it returns none
 */
export async function describeColumns(client: Client, sql: string): Promise<readonly FieldDef[]> {
  const description = new Description(sql);
  client.query(description);
  return await description.result;
}

class Description implements Submittable {
  readonly #sql: string;
  readonly #ended = Promise.withResolvers<readonly FieldDef[]>();
  #connection: Connection | undefined;
  readonly result = this.#ended.promise;

  constructor(sql: string) {
    this.#sql = sql;
  }

  submit(connection: Connection): void {
    this.#connection = connection;
    connection.once('noData', this.#handleNoData);
    connection.parse({ name: '', text: this.#sql, types: [] });
    connection.describe({ type: 'S', name: '' });
    connection.sync();
  }

  readonly #handleNoData = () => this.#ended.reject(new NotOneQueryError());

  handleRowDescription({ fields }: { readonly fields: readonly FieldDef[] }): void {
    this.#ended.resolve(fields);
  }

  handleError(error: Error): void {
    this.#ended.reject(error);
  }

  handleReadyForQuery(): void {
    this.#connection?.off('noData', this.#handleNoData);
    this.#ended.reject(new NotOneQueryError());
  }
}
