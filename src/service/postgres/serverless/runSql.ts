/** `POST /sql`: one statement, or several in a transaction. */
import type { IncomingHttpHeaders } from 'node:http';
import net from 'node:net';
import type { QueryArrayConfig, QueryArrayResult } from 'pg';
import Client from 'pg/lib/client.js';
import { LOOPBACK } from '../network/serverAddress.ts';
import { jsonValue } from './jsonValues.ts';
import {
  MAX_BYTES,
  readSqlRequest,
  SqlError,
  type SqlQuery,
  type SqlReply,
  type SqlRequest,
} from './sqlRequest.ts';

interface RunOptions {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly port: number;
  /** Aborted when the client no longer waits for the reply. */
  readonly signal: AbortSignal;
}

/**
 * Each request has a session of its own, with the user's login. A kept session would save the next request a login, but
 * would also keep settings, accept a password that was changed, and block `DROP DATABASE`.
 * @throws {SqlError}
 */
export async function runSql({ headers, body, port, signal }: RunOptions): Promise<SqlReply> {
  const request = readSqlRequest(headers, body);
  const session = new Session(request, port);
  signal.addEventListener('abort', () => session.cancel(), { once: true });
  try {
    signal.throwIfAborted();
    const results = await session.run(request, signal);
    const reply = JSON.stringify(request.begin === undefined ? results[0] : { results });
    if (Buffer.byteLength(reply) > MAX_BYTES) throw tooLarge();
    return { status: 200, body: reply, headers: { 'content-type': 'application/json', ...request.repeated } };
  } catch (error) {
    throw session.isTooLarge ? tooLarge() : asSqlError(error);
  } finally {
    session.end();
  }
}

class Session {
  readonly #client: Client;
  readonly #port: number;
  #received = 0;

  constructor({ login }: SqlRequest, port: number) {
    this.#port = port;
    const { options, application_name: name } = login;
    const defaults = {
      options: options ?? '-c client_encoding=UTF8',
      application_name: name ?? 'serverless',
    };
    // All is set explicitly, so that PG… environment variables are ignored.
    this.#client = new Client({ ...login, ...defaults, host: LOOPBACK, port, ssl: false });
    this.#client.on('error', () => undefined);
  }

  get isTooLarge(): boolean {
    return this.#received > MAX_BYTES;
  }

  async run(request: SqlRequest, signal: AbortSignal): Promise<readonly object[]> {
    await this.#client.connect();
    this.#client.connection.stream.on('data', (chunk: Buffer) => {
      this.#received += chunk.length;
      if (this.isTooLarge) this.#client.connection.stream.destroy();
    });
    const { begin, queries } = request;
    if (begin !== undefined) await this.#client.query(begin);
    const results: object[] = [];
    for (const query of queries) {
      signal.throwIfAborted();
      results.push(toJson(await this.#query(query), query.arrayMode ?? request.arrayMode, request.rawText));
    }
    if (begin !== undefined) await this.#client.query('COMMIT');
    return results;
  }

  async #query({ query, params }: SqlQuery): Promise<QueryArrayResult<(string | null)[]>> {
    const config: QueryArrayConfig & { readonly queryMode: 'extended' } = {
      text: query,
      values: params ?? [],
      rowMode: 'array',
      // A text with several statements is an error, as in the public service.
      queryMode: 'extended',
      types: { getTypeParser: () => (value: string) => value },
    };
    return this.#client.query(config);
  }

  /** Ends a running statement. A session that has not logged in has none. */
  cancel(): void {
    const { processID, secretKey } = this.#client as unknown as Record<string, unknown>;
    if (typeof processID !== 'number' || typeof secretKey !== 'number') return this.end();
    const packet = Buffer.alloc(16);
    [16, CANCEL_REQUEST, processID, secretKey].forEach((value, index) =>
      packet.writeInt32BE(value, index * 4),
    );
    const socket = net.connect(this.#port, LOOPBACK, () => socket.end(packet));
    socket.on('error', () => socket.destroy()).resume();
    // What it runs next would not be cancelled.
    socket.once('close', () => this.end());
  }

  end(): void {
    const { stream } = this.#client.connection;
    stream.end(TERMINATE, () => stream.destroy());
  }
}

const CANCEL_REQUEST = 80877102;
const TERMINATE = Buffer.from([0x58, 0, 0, 0, 4]);

function toJson(result: QueryArrayResult<(string | null)[]>, arrayMode: boolean, rawText: boolean): object {
  const { fields, command, rowCount } = result;
  const values = (row: (string | null)[]) =>
    rawText ? row : row.map((value, index) => jsonValue(value, fields[index]?.dataTypeID ?? 0));
  const rows = result.rows.map((row) => {
    const converted = values(row);
    return arrayMode
      ? converted
      : Object.fromEntries(fields.map(({ name }, index) => [name, converted[index]]));
  });
  return { fields, rows, command, rowCount, rowAsArray: arrayMode };
}

const tooLarge = (): SqlError => new SqlError(507, `the reply is larger than ${MAX_BYTES} bytes`);

const ERROR_FIELDS =
  'code detail hint position internalPosition internalQuery severity where table column schema dataType constraint file line routine'.split(
    ' ',
  );

function asSqlError(error: unknown): SqlError {
  if (error instanceof SqlError) return error;
  if (!(error instanceof Error)) return new SqlError(500, String(error));
  const values = new Map(Object.entries(error));
  if (!values.has('severity')) return new SqlError(500, error.message);
  const details = ERROR_FIELDS.map((name) => [name, values.get(name) ?? null]);
  // The public service quotes the name differently from Postgres.
  const message = values.get('code') === '28P01' ? error.message.replace(/"(.*)"/, "'$1'") : error.message;
  return new SqlError(400, message, Object.fromEntries(details));
}
