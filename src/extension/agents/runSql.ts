/**
 * Runs one SQL statement for an agent. A statement that may not write runs in a read-only transaction that is never committed.
 * It can't leave the transaction: it is alone in it, and must return rows, which none does that begins, ends or configures
 * transactions. There is no `SET ROLE pg_read_all_data`: the login could leave the role, and it would hide constraints, view
 * definitions and rows with row-level security, which agents would take for missing.
 */
import net from 'node:net';
import type Client from 'pg/lib/client.js';
import { pause } from '../../base/clock.ts';
import { fieldsOf } from '../../base/fieldsOf.ts';
import { createPgClient } from '../../base/pgClient.ts';
import { splitHost } from '../../api/addresses/host.ts';
import { sslModeOf } from '../connection/connectionStrings.ts';
import type { BranchLogin } from './branchLogin.ts';
import { requireReadOnly } from './readOnlyCheck.ts';
import { SqlError } from './sqlError.ts';
import { Statement, type SqlRequest, type StatementResult } from './sqlStatement.ts';

declare module 'pg' {
  interface Client {
    readonly processID: number | null;
    readonly secretKey: number | null;
  }
}

export interface SqlResult extends Omit<StatementResult, 'fields'> {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
}

const READ_SECONDS = 15;
const WRITE_SECONDS = 60;
/** Includes the start of a suspended compute. */
const CONNECT_SECONDS = 30;
const MAX_ERROR_TEXT = 2000;
/** Milliseconds. */
const CANCEL_INTERVAL = 200;
const MAX_CANCELS = 20;

/** @throws {Error} with a message for the model. @param signal cancels the statement */
export async function runSql(
  login: BranchLogin,
  request: SqlRequest,
  signal: AbortSignal,
): Promise<SqlResult> {
  // It would end the text in the protocol.
  if (request.sql.includes('\0')) throw new Error('The statement contains a NUL character.');
  const client = createClient(login);
  const timeoutSeconds = request.write ? WRITE_SECONDS : READ_SECONDS;
  const deadline = AbortSignal.timeout((CONNECT_SECONDS + 2 * timeoutSeconds) * 1000);
  const stop = AbortSignal.any([signal, deadline]);
  const onAbort = () => void cancel(client);
  stop.addEventListener('abort', onAbort);
  try {
    stop.throwIfAborted();
    await client.connect();
    await client.query(
      request.write ? settings(timeoutSeconds, false) : `BEGIN READ ONLY; ${settings(timeoutSeconds, true)}`,
    );
    if (!request.write) await requireReadOnly(client, request.sql);
    const statement = new Statement(request);
    client.query(statement);
    const { fields, ...result } = await statement.result;
    const types = await typeNames(client, fields);
    return { ...result, columns: fields.map(({ name }, index) => ({ name, type: types[index] ?? '' })) };
  } catch (error) {
    if (signal.aborted) throw new Error('Canceled.', { cause: error });
    if (deadline.aborted) throw new Error('The database did not answer in time.', { cause: error });
    throw toSqlError(error);
  } finally {
    await client.end().catch(() => undefined);
    stop.removeEventListener('abort', onAbort);
  }
}

function createClient(login: BranchLogin): Client {
  const { name: host, port } = splitHost(login.host);
  const client = createPgClient({
    host,
    port,
    user: login.role,
    password: login.password,
    database: login.database,
    // With a certificate that the system trusts.
    ssl: sslModeOf(login) !== undefined,
    enableChannelBinding: true,
    application_name: 'Hosted Postgres agent',
    client_encoding: 'UTF8',
    connectionTimeoutMillis: CONNECT_SECONDS * 1000,
  });
  // Postgres with SCRAM never asks for them. A program that took the port of a local compute might.
  for (const plain of ['authenticationCleartextPassword', 'authenticationMD5Password'])
    client.connection.on(plain, () => {
      client.connection.stream.destroy(new Error('The server asked for the password without SCRAM.'));
    });
  return client;
}

/**
 * The first query of the transaction: from then on, Postgres doesn't let it become read-write.
 * @param isLocal whether the settings end with the transaction
 */
function settings(timeoutSeconds: number, isLocal: boolean): string {
  const values = {
    statement_timeout: `${timeoutSeconds}s`,
    lock_timeout: '5s',
    datestyle: 'ISO, YMD',
    bytea_output: 'hex',
    standard_conforming_strings: 'on',
    jit: 'off',
  };
  const calls = Object.entries(values).map(
    ([name, value]) => `pg_catalog.set_config('${name}', '${value}', ${isLocal})`,
  );
  return `SELECT ${calls.join(', ')}`;
}

async function typeNames(client: Client, fields: StatementResult['fields']): Promise<string[]> {
  if (fields.length === 0) return [];
  const ids = fields.map(({ dataTypeID }) => dataTypeID);
  const modifiers = fields.map(({ dataTypeModifier }) => dataTypeModifier);
  const { rows } = await client.query<[string]>({
    text: `SELECT pg_catalog.format_type(id, modifier)
      FROM ROWS FROM (pg_catalog.unnest($1::pg_catalog.oid[]), pg_catalog.unnest($2::pg_catalog.int4[])) AS t (id, modifier)`,
    values: [ids, modifiers],
    rowMode: 'array',
  });
  return rows.map(([name]) => name);
}

/**
 * Cancels what Postgres runs, and closes the connection. Postgres ignores a cancel that arrives just before the statement, so
 * it is sent again until the statement has ended.
 */
async function cancel(client: Client): Promise<void> {
  const { stream } = client.connection;
  const closed = new Promise((resolve) => stream.once('close', resolve));
  for (let sent = 0; sent < MAX_CANCELS && client.processID !== null && !stream.destroyed; sent += 1) {
    await sendCancel(client);
    await Promise.race([closed, pause(CANCEL_INTERVAL)]);
  }
  stream.destroy();
}

/** By a second connection, as the protocol requires. Never rejects. */
async function sendCancel({ processID, secretKey, host, port }: Client): Promise<void> {
  if (processID === null || secretKey === null) return;
  const packet = Buffer.alloc(16);
  [16, 80_877_102, processID, secretKey].forEach((value, index) => packet.writeInt32BE(value, index * 4));
  await new Promise((resolve) => {
    const socket = net.connect({ host, port, timeout: 2000 }, () => socket.end(packet));
    socket
      .on('timeout', () => socket.destroy())
      .on('error', () => undefined)
      .on('close', resolve);
  });
}

/** What Postgres says about an error, or the error of the connection. */
function toSqlError(error: unknown): SqlError {
  if (!(error instanceof Error)) return new SqlError(String(error), undefined);
  const { code, position, detail, hint } = fieldsOf(error);
  const place = typeof position === 'string' ? `, at character ${position}` : '';
  const parts = [
    error.message,
    typeof code === 'string' ? `(${code}${place})` : '',
    typeof detail === 'string' ? `Detail: ${detail}` : '',
    typeof hint === 'string' ? `Hint: ${hint}` : '',
  ];
  const text = parts.filter((part) => part !== '').join(' ');
  return new SqlError(text.slice(0, MAX_ERROR_TEXT), typeof code === 'string' ? code : undefined);
}
