/**
 * The service's own connections to a running server. They are a superuser's, so a statement must not run anything that a
 * user created: `search_path` contains only `pg_catalog`, and all but those of `removeRows.ts` and `slotFunctions.ts` also qualify
 * names and operators.
 */
import type Client from 'pg/lib/client.js';
import { fieldsOf } from '../../../base/fieldsOf.ts';
import { createPgClient } from '../../../base/sql/pgClient.ts';
import { asEngineError } from '../../core/computeEngine.ts';
import { MAINTENANCE_DATABASE, SUPERUSER } from '../../core/systemNames.ts';
import type { PostgresBinaries } from './programs.ts';
import type { ServerAddress } from './serverAddress.ts';

/**
 * Returns the options of the service's sessions. They win over ALTER DATABASE, ALTER ROLE and the configuration files, so no user's
 * settings apply.
 */
export const sessionOptions = (major: number): string =>
  Object.entries(sessionSettings(major))
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ');

const sessionSettings = (major: number) => ({
  search_path: 'pg_catalog',
  role: 'none',
  default_transaction_read_only: 'off',
  statement_timeout: 0,
  ...(major >= 17 && { transaction_timeout: 0 }),
  idle_in_transaction_session_timeout: 0,
  // The session of a backup is idle while files are copied.
  idle_session_timeout: 0,
  // The branch is locked during a statement, so it must not wait for a user's open transaction for long. Milliseconds.
  lock_timeout: 10_000,
  // Owners read the statistics of all sessions, and statements contain verifiers of passwords.
  'pg_stat_statements.track': 'none',
});

/** What is needed to log in as superuser. */
export interface SuperuserLogin {
  readonly binaries: Pick<PostgresBinaries, 'major'>;
  readonly logins: { readonly superuser: string };
}

/** The caller ends the connection. @throws {EngineError} with the server's message */
export async function connectAsSuperuser(
  { binaries, logins }: SuperuserLogin,
  address: ServerAddress,
  database = MAINTENANCE_DATABASE,
): Promise<Client> {
  const client = createPgClient({
    ...address,
    user: SUPERUSER,
    password: logins.superuser,
    database,
    application_name: 'service',
    options: sessionOptions(binaries.major),
    ssl: false,
    client_encoding: 'UTF8',
  });
  try {
    await client.connect();
    return client;
  } catch (error) {
    throw asEngineError(error);
  }
}

/** Ends the connection after the work. @param database undefined: the maintenance database. @throws {EngineError} if it can't connect */
export async function withSuperuser<T>(
  login: SuperuserLogin,
  address: ServerAddress,
  work: (client: Client) => Promise<T>,
  database?: string,
): Promise<T> {
  const client = await connectAsSuperuser(login, address, database);
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Catches the error of a connection to a database that was dropped or renamed in the meantime. */
export function ignoreDropped(error: unknown): undefined {
  if (fieldsOf(fieldsOf(error).cause).code !== '3D000') throw error;
}

/** `datconnlimit` of a database whose DROP was interrupted. It can only be dropped again. */
export const INVALID_DATABASE_LIMIT = -2;

interface ConnectableDatabase {
  readonly id: number;
  readonly name: string;
}

/** Returns the databases to which a superuser can connect. */
export const listConnectableDatabases = async (client: Client): Promise<readonly ConnectableDatabase[]> =>
  (
    await client.query<ConnectableDatabase>(
      `select oid::pg_catalog.int8::pg_catalog.float8 as id, datname as name
      from pg_catalog.pg_database
      where datallowconn and datconnlimit operator(pg_catalog.<>) ${INVALID_DATABASE_LIMIT}`,
    )
  ).rows;
