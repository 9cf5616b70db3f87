/** How an agent connects to a branch: its compute, a database with its owner, and the password that the service has. */
import type { Compute } from '../../api/records/records.ts';
import type { AccountConnection } from '../account/accountConnection.ts';
import { databaseOwners, LOCAL_DEFAULTS, type RoleAndDatabase } from '../connection/connectionDefaults.ts';
import { credentialsFor } from '../connection/branchLogin.ts';
import { findReaderLogin } from '../database/sql/readerLogin.ts';
import type { BranchLogin } from '../database/sql/sqlSession.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { findPrimary } from '../inventory/branchStatus.ts';
import type { BranchIds } from '../account/refs.ts';

interface BranchLoginRequest extends BranchIds {
  readonly connection: AccountConnection;
  /** If undefined, the branch's first database or the local service's usual one is meant. */
  readonly database?: string | undefined;
  readonly signal: AbortSignal;
}

/** The login of the database's owner, which is a secret. @throws {Error} with a sentence for the agent */
export async function findBranchLogin(
  inventory: Inventory,
  request: BranchLoginRequest,
): Promise<BranchLogin> {
  const { connection } = request;
  const compute = await requireCompute(inventory, request);
  const { role, database } = await findRoleAndDatabase(request);
  const login = { role, database, pooled: false };
  const credentials = await credentialsFor(connection, compute, login, optionsOf(request).signal);
  if (credentials === undefined) throw new Error(`The service doesn't provide the password of ${role}.`);
  return { ...credentials, host: compute.host, role, database };
}

/**
 * The login that only reads, which is a secret.
 * @returns undefined if the service has none @throws {Error} with a sentence for the agent
 */
export async function findBranchReader(
  inventory: Inventory,
  request: BranchLoginRequest,
): Promise<BranchLogin | undefined> {
  const { host } = await requireCompute(inventory, request);
  const login = { ...(await findRoleAndDatabase(request)), host };
  return await findReaderLogin(request.connection, request, login, optionsOf(request).signal);
}

async function requireCompute(inventory: Inventory, request: BranchLoginRequest): Promise<Compute> {
  const compute = await findPrimary(inventory, request);
  if (compute === undefined) throw new Error(`${request.branchId} has no compute to connect to.`);
  return compute;
}

/** The database, if it exists, and the role that owns it. @throws {Error} with a sentence for the agent */
export async function findRoleAndDatabase(request: BranchLoginRequest): Promise<RoleAndDatabase> {
  const { connection, projectId, branchId, database } = request;
  const client = await connection.client();
  const [databases = [], roles = []] = await Promise.all([
    client.listDatabases(projectId, branchId, optionsOf(request)),
    client.listRoles(projectId, branchId, optionsOf(request)),
  ]);
  const owners = databaseOwners({ databases, roles });
  const find = (name: string) => owners.find((owner) => owner.database === name);
  const usual = connection.isLocal ? find(LOCAL_DEFAULTS.database) : undefined;
  const found = database ? find(database) : (usual ?? owners[0]);
  if (found === undefined) {
    const missing = database ? `database ${database}` : 'database';
    const names = databases.map(({ name }) => name).join(', ');
    throw new Error(`${branchId} has no ${missing}. It has: ${names || 'none'}`);
  }
  return found;
}

const optionsOf = ({ connection, signal }: BranchLoginRequest) => ({
  signal: AbortSignal.any([connection.signal, signal]),
});
