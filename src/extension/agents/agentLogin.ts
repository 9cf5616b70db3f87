/** Finds the login with which an agent connects to a branch. Nothing that is missing is asked for. */
import type { Compute } from '../../api/records/records.ts';
import type { AccountConnection } from '../account/accountConnection.ts';
import type { BranchIds } from '../account/refs.ts';
import {
  findComputeLogin,
  findLoginRole,
  findReaderLogin,
  type MissingForLogin,
} from '../connection/branchLogin.ts';
import type { RoleAndDatabase } from '../connection/connectionDefaults.ts';
import type { BranchLogin } from '../connection/sqlSession.ts';
import { findPrimary } from '../inventory/branchStatus.ts';
import type { Inventory } from '../inventory/inventory.ts';

interface LoginRequest extends BranchIds {
  readonly connection: AccountConnection;
  /** The database; undefined for the branch's first one, or the local service's usual one. */
  readonly database?: string | undefined;
  readonly signal: AbortSignal;
}

/** Returns the login of the database's owner, which is a secret. @throws {Error} with a sentence for the agent */
export async function requireAgentLogin(inventory: Inventory, request: LoginRequest): Promise<BranchLogin> {
  const compute = await requireCompute(inventory, request);
  return requireFound(request, await findComputeLogin(request.connection, compute, request));
}

/**
 * Returns the login that only reads, which is a secret.
 * @returns undefined if the service has none @throws {Error} with a sentence for the agent
 */
export async function findAgentReader(
  inventory: Inventory,
  request: LoginRequest,
): Promise<BranchLogin | undefined> {
  const { host } = await requireCompute(inventory, request);
  const login = { ...(await requireLoginRole(request)), host };
  return await findReaderLogin(request.connection, request, login, request.signal);
}

/** Returns the database and the role to log in as, usually its owner. @throws {Error} with a sentence for the agent */
export const requireLoginRole = async (request: LoginRequest): Promise<RoleAndDatabase> =>
  requireFound(request, await findLoginRole(request.connection, request, request));

async function requireCompute(inventory: Inventory, request: LoginRequest): Promise<Compute> {
  const compute = await findPrimary(inventory, request);
  if (compute === undefined) throw new Error(`${request.branchId} has no compute to connect to.`);
  return compute;
}

function requireFound<T extends { readonly missing?: undefined }>(
  { branchId, database }: LoginRequest,
  found: T | MissingForLogin,
): T {
  if (found.missing === undefined) return found;
  if (found.missing === 'password')
    throw new Error(`The service doesn't provide the password of ${found.role}.`);
  const missing = database ? `database ${database}` : 'database';
  throw new Error(`${branchId} has no ${missing}. It has: ${found.existing.join(', ') || 'none'}`);
}
