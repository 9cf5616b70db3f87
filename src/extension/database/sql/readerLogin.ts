/** The login that reads on a branch of the local service. What its statements call can't leave it. See decision 85. */
import { isNotOffered } from '../../../api/transport/errors.ts';
import type { AccountConnection } from '../../account/accountConnection.ts';
import type { BranchIds } from '../../account/refs.ts';
import type { RoleAndDatabase } from '../../connection/connectionDefaults.ts';
import type { BranchLogin } from './sqlSession.ts';

/**
 * Starts the branch's compute.
 * @param login the database, and the role whose `search_path` statements have
 * @returns undefined if the service has no such login: it is a hosted one, or an older local one
 * @throws {ApiError}
 */
export async function findReaderLogin(
  connection: AccountConnection,
  { projectId, branchId }: BranchIds,
  login: RoleAndDatabase & { readonly host: string },
  signal: AbortSignal = connection.signal,
): Promise<BranchLogin | undefined> {
  if (!connection.isLocal) return undefined;
  const { branches } = await connection.client();
  try {
    return { ...login, ...(await branches.reader(projectId, branchId, { signal })), readsFor: login.role };
  } catch (error) {
    if (isNotOffered(error)) return undefined;
    throw error;
  }
}
