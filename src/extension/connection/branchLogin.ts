/** The logins of a branch: its databases with their owners, and the passwords that the service has. The user is never asked. */
import type { Credentials } from '../../api/addresses/connectionUri.ts';
import { pooledHost } from '../../api/addresses/host.ts';
import type { Compute } from '../../api/records/records.ts';
import { isNotOffered } from '../../api/transport/errors.ts';
import type { AccountConnection } from '../account/accountConnection.ts';
import type { BranchIds } from '../account/refs.ts';
import { computeNodeOf } from '../inventory/nodes.ts';
import {
  loginRoles,
  LOCAL_ROLE_AND_DATABASE,
  type Catalog,
  type Login,
  type RoleAndDatabase,
} from './connectionDefaults.ts';
import type { ConnectionStringParts } from './connectionStrings.ts';

/** What a branch lacks for a login. */
export type MissingForLogin =
  | { readonly missing: 'database'; readonly existing: readonly string[] }
  | { readonly missing: 'password'; readonly role: string };

type Found<T> = (T & { readonly missing?: undefined }) | MissingForLogin;

interface Wanted {
  /** The default is the local service's usual database, or else the first one of the branch. */
  readonly database?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Returns a login for the compute, which is a secret: a database, its owner, and the owner's password. @throws {ApiError} */
export async function findComputeLogin(
  connection: AccountConnection,
  compute: Compute,
  { database: named, signal }: Wanted = {},
): Promise<Found<ConnectionStringParts & Credentials>> {
  const login = await findLoginRole(connection, computeNodeOf(compute), { database: named, signal });
  if (login.missing !== undefined) return login;
  const { role, database } = login;
  const credentials = await findComputeCredentials(
    connection,
    compute,
    { role, database, pooled: false },
    signal,
  );
  return credentials === undefined
    ? { missing: 'password', role }
    : { ...credentials, host: compute.host, role, database };
}

/** Finds a database of the branch and the role to log in as: its owner, or another role if the owner can't. @throws {ApiError} */
export async function findLoginRole(
  connection: AccountConnection,
  branch: BranchIds,
  { database, signal }: Wanted = {},
): Promise<Found<RoleAndDatabase>> {
  const catalog = (await loadBranchCatalog(connection, branch, signal)) ?? { databases: [], roles: [] };
  const pairs = loginRoles(catalog);
  const find = (name: string) => pairs.find((pair) => pair.database === name);
  const usual = connection.isLocal ? find(LOCAL_ROLE_AND_DATABASE.database) : undefined;
  const found = database ? find(database) : (usual ?? pairs[0]);
  return found ?? { missing: 'database', existing: catalog.databases.map(({ name }) => name) };
}

/** Returns the branch's databases and roles; undefined if the service doesn't offer both lists, at all or to this key. @throws {ApiError} */
export async function loadBranchCatalog(
  connection: AccountConnection,
  { projectId, branchId }: BranchIds,
  signal?: AbortSignal,
): Promise<Catalog | undefined> {
  const client = await connection.client();
  const options = callOptions(connection, signal);
  const [databases, roles] = await Promise.all([
    client.listDatabases(projectId, branchId, options),
    client.listRoles(projectId, branchId, options),
  ]);
  return databases && roles && { databases, roles };
}

/**
 * Returns the login that only reads, on a branch of the local service, and starts the branch's compute. Code that its statements
 * call can't switch to another role: see decision 85.
 * @param login the database, and the role whose `search_path` statements have
 * @returns undefined if the service has no such login: it is a hosted one, or an older local one
 * @throws {ApiError}
 */
export async function findReaderLogin(
  connection: AccountConnection,
  { projectId, branchId }: BranchIds,
  login: RoleAndDatabase & { readonly host: string },
  signal?: AbortSignal,
) {
  if (!connection.isLocal) return undefined;
  const { branches } = await connection.client();
  try {
    const reader = await branches.getReader(projectId, branchId, callOptions(connection, signal));
    return { ...login, ...reader, readsFor: login.role };
  } catch (error) {
    if (isNotOffered(error)) return undefined;
    throw error;
  }
}

export const computeHost = (compute: Compute, isPooled: boolean): string =>
  (isPooled ? pooledHost(compute) : undefined) ?? compute.host;

/**
 * @param login pooled only if the compute has a host for that
 * @returns undefined if the service doesn't provide passwords
 * @throws {ApiError} also if the connection is closed before the reply, or the host of the reply is another one
 */
export async function findComputeCredentials(
  connection: AccountConnection,
  compute: Compute,
  login: Login,
  signal?: AbortSignal,
): Promise<Credentials | undefined> {
  const client = await connection.client();
  const ids = { computeId: compute.id, branchId: compute.branch_id };
  const pooled = login.pooled && pooledHost(compute) !== undefined;
  const query = { ...login, ...ids, pooled, host: computeHost(compute, pooled) };
  return await client.findCredentials(compute.project_id, query, callOptions(connection, signal));
}

const callOptions = (connection: AccountConnection, signal = connection.signal) => ({
  signal: AbortSignal.any([connection.signal, signal]),
});
