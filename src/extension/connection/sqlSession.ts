/**
 * A connection to a branch for one task, in a transaction that is never committed if the task only reads. It can be canceled,
 * its times are limited, and its errors are `SqlError`s.
 */
import net from 'node:net';
import type Client from 'pg/lib/client.js';
import { pause } from '../../base/clock.ts';
import { fieldsOf } from '../../base/fieldsOf.ts';
import { createPgClient } from '../../base/sql/pgClient.ts';
import { addExtensionHint } from '../../base/sql/missingExtension.ts';
import { LOCK_NOT_AVAILABLE, lockAdvice } from '../../base/sql/lockHolders.ts';
import { isLocalHost, splitHost } from '../../api/addresses/host.ts';
import { requiredSslMode, type ConnectionStringParts } from './connectionStrings.ts';
import { SqlError } from '../window/sqlError.ts';

declare module 'pg' {
  interface Client {
    readonly processID: number | null;
    readonly secretKey: number | null;
  }
}

/** What is needed to log in to a branch. It contains a secret. */
export interface BranchLogin extends ConnectionStringParts {
  readonly password: string;
  /** If `role` only reads: the role whose `search_path` the user's statements have. */
  readonly readsFor?: string;
}

/** How a session begins, and what limits it. */
export interface SessionOptions {
  /** What `pg_stat_activity` shows. */
  readonly application: string;
  /** The first statement of a transaction that only reads, such as `BEGIN READ ONLY`; undefined for a task that writes. */
  readonly begin: string | undefined;
  /** The limit for each statement; undefined for no limit, and the settings that Postgres has. */
  readonly timeoutSeconds: number | undefined;
  /** Further settings of Postgres, by name. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** The most seconds for connecting, which include the start of a suspended compute. */
const CONNECT_SECONDS = 30;
const MAX_ERROR_TEXT = 2000;
/** Milliseconds between two attempts to cancel a statement. */
const CANCEL_INTERVAL = 200;
const MAX_CANCELS = 20;

/** @param signal cancels the statement that runs. @throws {Error} if it was canceled, or took too long @throws {SqlError} */
export async function withSession<T>(
  login: BranchLogin,
  options: SessionOptions,
  signal: AbortSignal,
  task: (client: Client) => Promise<T>,
): Promise<T> {
  const client = createClient(login, options.application);
  const { timeoutSeconds } = options;
  const deadline =
    timeoutSeconds === undefined
      ? new AbortController().signal
      : AbortSignal.timeout((CONNECT_SECONDS + 2 * timeoutSeconds) * 1000);
  const stop = AbortSignal.any([signal, deadline]);
  const onAbort = () => void cancelAndClose(client);
  stop.addEventListener('abort', onAbort);
  try {
    stop.throwIfAborted();
    await client.connect();
    if (timeoutSeconds !== undefined) await client.query(firstQuery(options));
    return await task(client);
  } catch (error) {
    if (signal.aborted) throw new Error('Canceled.', { cause: error });
    if (deadline.aborted) throw new Error('The database did not answer in time.', { cause: error });
    if (isLocalHost(login.host)) addExtensionHint(error);
    await adviseOnLock(error, signal);
    throw toSqlError(error);
  } finally {
    await client.end().catch(() => undefined);
    stop.removeEventListener('abort', onAbort);
  }
}

/** The login with which each error of Postgres has occurred, because a task may have several sessions. */
const loginOfError = new WeakMap<object, BranchLogin>();

const LOCKS: SessionOptions = { application: 'Hosted Postgres', begin: 'BEGIN READ ONLY', timeoutSeconds: 5 };

/** Adds to an error who holds the lock, if a statement has waited too long for one. The session of the error may have ended. */
export async function adviseOnLock(error: unknown, signal: AbortSignal): Promise<void> {
  const { code, hint } = fieldsOf(error);
  const login = error instanceof Error ? loginOfError.get(error) : undefined;
  if (login === undefined || code !== LOCK_NOT_AVAILABLE || hint !== undefined) return;
  const advice = await withSession(login, LOCKS, signal, async (client) =>
    lockAdvice(client).catch(() => undefined),
  ).catch(() => undefined);
  if (advice !== undefined) Object.assign(Object(error), { hint: advice });
}

function createClient(login: BranchLogin, application: string): Client {
  const { name: host, port } = splitHost(login.host);
  const client = createPgClient({
    host,
    port,
    user: login.role,
    password: login.password,
    database: login.database,
    // The value `true` requires a certificate that the system trusts.
    ssl: requiredSslMode(login) !== undefined,
    enableChannelBinding: true,
    application_name: application,
    client_encoding: 'UTF8',
    connectionTimeoutMillis: CONNECT_SECONDS * 1000,
  });
  // Postgres with SCRAM never asks for the password itself. A program that took the port of a local compute might.
  for (const plain of ['authenticationCleartextPassword', 'authenticationMD5Password'])
    client.connection.on(plain, () => {
      client.connection.stream.destroy(new Error('The server asked for the password without SCRAM.'));
    });
  client.connection.on('errorMessage', (error: Error) => loginOfError.set(error, login));
  return client;
}

/**
 * With this path, the names and operators of our statements are those of Postgres, even if the database has others of the same
 * name.
 */
export const USE_CATALOG_SEARCH_PATH = 'SET search_path TO pg_catalog';
/** Reads the search path that Postgres gives a role when it logs in. `$1` is the role's name. */
const PATH_OF_ROLE = `
  SELECT set_config('search_path', replace(coalesce(
    (SELECT substr(setting, 13) FROM pg_db_role_setting, unnest(setconfig) AS setting
      WHERE setting ^@ 'search_path=' AND setdatabase IN (0, d.oid) AND setrole IN (0, r.oid)
      ORDER BY setrole = 0, setdatabase = 0 LIMIT 1),
    (SELECT reset_val FROM pg_settings WHERE name = 'search_path')), '"$user"', quote_ident($1)), false)
  FROM pg_database d LEFT JOIN pg_roles r ON rolname = $1 WHERE datname = current_database()`;

/** Sets the search path that the user's statements have by the user's settings. Call this before such a statement. */
export async function useUsersSearchPath(client: Client, { readsFor }: BranchLogin): Promise<void> {
  if (readsFor === undefined) await client.query('SET search_path TO DEFAULT');
  else await client.query(PATH_OF_ROLE, [readsFor]);
}

/**
 * Returns the statements that begin a session. After a query, Postgres doesn't let a read-only transaction become read-write. The
 * settings end with the transaction. None of these statements has an operator, so they run nothing of the database before the path
 * is set.
 */
function firstQuery({ begin, timeoutSeconds, settings: more }: SessionOptions): string {
  const values = {
    statement_timeout: `${timeoutSeconds}s`,
    lock_timeout: '5s',
    datestyle: 'ISO, YMD',
    bytea_output: 'hex',
    standard_conforming_strings: 'on',
    jit: 'off',
    ...more,
  };
  const calls = Object.entries(values).map(
    ([name, value]) => `pg_catalog.set_config('${name}', '${value}', ${begin !== undefined})`,
  );
  const statements = [USE_CATALOG_SEARCH_PATH, `SELECT ${calls.join(', ')}`];
  return (begin === undefined ? statements : [begin, ...statements]).join('; ');
}

/**
 * Cancels what Postgres runs, and closes the connection. Postgres ignores a cancel that arrives just before the statement, so
 * it is sent again until the statement has ended.
 */
async function cancelAndClose(client: Client): Promise<void> {
  const { stream } = client.connection;
  const closed = new Promise((resolve) => stream.once('close', resolve));
  for (let sent = 0; sent < MAX_CANCELS && client.processID !== null && !stream.destroyed; sent += 1) {
    await sendCancel(client);
    await Promise.race([closed, pause(CANCEL_INTERVAL)]);
  }
  stream.destroy();
}

/** The code of a cancel request, in the place of a version of the protocol. */
const CANCEL_REQUEST = 80_877_102;

/** Cancels the statement over a second connection, as the protocol requires. Never rejects. */
async function sendCancel({ processID, secretKey, host, port }: Client): Promise<void> {
  if (processID === null || secretKey === null) return;
  const packet = Buffer.alloc(16);
  [packet.length, CANCEL_REQUEST, processID, secretKey].forEach((value, index) =>
    packet.writeInt32BE(value, index * 4),
  );
  await new Promise((resolve) => {
    const socket = net.connect({ host, port, timeout: 2000 }, () => socket.end(packet));
    socket
      .on('timeout', () => socket.destroy())
      .on('error', () => undefined)
      .on('close', resolve);
  });
}

/** Returns what Postgres says about an error, or the error of the connection. */
export function toSqlError(error: unknown): SqlError {
  if (error instanceof SqlError) return error;
  if (!(error instanceof Error)) return new SqlError(String(error), undefined, error);
  const { code, position, detail, hint } = fieldsOf(error);
  const place = typeof position === 'string' ? `, at character ${position}` : '';
  const parts = [
    error.message,
    typeof code === 'string' ? `(${code}${place})` : '',
    typeof detail === 'string' ? `Detail: ${detail}` : '',
    typeof hint === 'string' ? `Hint: ${hint}` : '',
  ];
  const text = parts.filter((part) => part !== '').join(' ');
  return new SqlError(text.slice(0, MAX_ERROR_TEXT), typeof code === 'string' ? code : undefined, error);
}
