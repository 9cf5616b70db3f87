/** `POST /sql`: one statement, or several in a transaction. */
import net from 'node:net';
import type { QueryArrayConfig, QueryArrayResult } from 'pg';
import type Client from 'pg/lib/client.js';
import { createPgClient } from '../../../base/sql/pgClient.ts';
import { HttpError } from '../../core/serviceErrors.ts';
import { LOOPBACK } from '../server/serverAddress.ts';
import { jsonValue } from './jsonValues.ts';
import {
  MAX_SQL_BYTES,
  HttpSqlError,
  type ConnectionLogin,
  type SqlQuery,
  type HttpSqlRequest,
} from './sqlRequest.ts';

interface RunOptions {
  readonly login: ConnectionLogin;
  /** Called after the login, so that a large request is read from clients with a password only. */
  readonly read: () => Promise<HttpSqlRequest>;
  readonly port: number;
  /** Aborted when the client no longer waits for the reply. */
  readonly signal: AbortSignal;
}

/**
 * Runs each request in a new session, with the user's login. Keeping a session for the next request would save a login, but
 * would also keep settings, accept a password that was changed since, and block `DROP DATABASE`.
 * @returns JSON. @throws {HttpSqlError}
 */
export async function answerSqlRequest({ login, read, port, signal }: RunOptions): Promise<string> {
  const client = createClient(login, port);
  const onAbort = () => cancelAndEnd(client);
  signal.addEventListener('abort', onAbort);
  let received = 0;
  try {
    signal.throwIfAborted();
    await client.connect();
    const request = await read();
    client.connection.stream.on('data', (chunk: Buffer) => {
      received += chunk.length;
      if (received > MAX_SQL_BYTES) client.connection.stream.destroy();
    });
    const results = await runQueries(client, request, signal);
    const reply = request.begin === undefined ? (results[0] ?? '') : `{"results":[${results.join()}]}`;
    if (Buffer.byteLength(reply) > MAX_SQL_BYTES) throw tooLargeError();
    return reply;
  } catch (error) {
    throw received > MAX_SQL_BYTES ? tooLargeError() : asSqlError(error);
  } finally {
    signal.removeEventListener('abort', onAbort);
    void client.end();
  }
}

function createClient(login: ConnectionLogin, port: number): Client {
  return createPgClient({
    ...login,
    options: login.options ?? '-c client_encoding=UTF8',
    application_name: login.application_name ?? 'serverless',
    host: LOOPBACK,
    port,
    ssl: false,
  });
}

async function runQueries(client: Client, request: HttpSqlRequest, signal: AbortSignal): Promise<string[]> {
  const { begin, queries, rawText } = request;
  if (begin !== undefined) await client.query(begin);
  const results: string[] = [];
  for (const query of queries) {
    signal.throwIfAborted();
    const result = await runQuery(client, query);
    results.push(resultJson(result, query.arrayMode ?? request.arrayMode, rawText));
  }
  if (begin !== undefined) await client.query('COMMIT');
  return results;
}

type TextRow = (string | null)[];

async function runQuery(client: Client, { query, params }: SqlQuery): Promise<QueryArrayResult<TextRow>> {
  const config: QueryArrayConfig & { readonly queryMode: 'extended' } = {
    text: query,
    values: [...params],
    rowMode: 'array',
    // A text with several statements is an error, as in the public service.
    queryMode: 'extended',
    types: { getTypeParser: () => (value: string) => value },
  };
  return client.query(config);
}

/** Cancels the running statement and ends the connection. One that isn't logged in yet is only closed. */
function cancelAndEnd(client: Client): void {
  const { processID, secretKey, port } = client;
  // The stream is destroyed because after `end`, pg never settles a `connect` that is in progress.
  if (processID === null || secretKey === null) return void client.connection.stream.destroy();
  const packet = Buffer.alloc(16);
  [16, CANCEL_REQUEST, processID, secretKey].forEach((value, index) => packet.writeInt32BE(value, index * 4));
  const socket = net.connect(port, LOOPBACK, () => socket.end(packet));
  socket.on('error', () => socket.destroy()).resume();
  // The cancellation doesn't affect a later statement of the connection.
  socket.once('close', () => void client.end());
}

const CANCEL_REQUEST = 80877102;

function resultJson(result: QueryArrayResult<TextRow>, arrayMode: boolean, rawText: boolean): string {
  const { fields, command, rowCount } = result;
  const rows = result.rows.map((row) => {
    const values = row.map((value, index) =>
      rawText ? JSON.stringify(value) : jsonValue(value, fields[index]?.dataTypeID ?? 0),
    );
    if (arrayMode) return `[${values.join()}]`;
    // If columns have the same name, the last one counts.
    const byName = new Map(fields.map(({ name }, index) => [JSON.stringify(name), values[index]]));
    return `{${[...byName].map(([name, value]) => `${name}:${value}`).join()}}`;
  });
  const rest = JSON.stringify({ fields, command, rowCount, rowAsArray: arrayMode });
  return `${rest.slice(0, -1)},"rows":[${rows.join()}]}`;
}

const tooLargeError = (): HttpSqlError =>
  new HttpSqlError(507, `the reply is larger than ${MAX_SQL_BYTES} bytes`);

const ERROR_FIELDS =
  'code detail hint position internalPosition internalQuery severity where table column schema dataType constraint file line routine'.split(
    ' ',
  );

export function asSqlError(error: unknown): HttpSqlError {
  if (error instanceof HttpSqlError) return error;
  if (error instanceof HttpError) return new HttpSqlError(error.status, error.message);
  if (!(error instanceof Error)) return new HttpSqlError(500, String(error));
  const values = new Map(Object.entries(error));
  if (!values.has('severity')) return new HttpSqlError(500, error.message);
  const details = ERROR_FIELDS.map((name) => [name, values.get(name) ?? null]);
  // The public service quotes the name differently from Postgres.
  const message = values.get('code') === '28P01' ? error.message.replace(/"(.*)"/, "'$1'") : error.message;
  return new HttpSqlError(400, message, Object.fromEntries(details));
}
