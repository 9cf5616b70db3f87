/** The replication slots that end when a branch gets other data. */
import type { AccountConnection } from '../account/accountConnection.ts';
import type { BranchIds } from '../account/refs.ts';

/** Returns no slots for an account of the public service, which doesn't list them. @throws {ApiError} */
export async function findEndingSlots(
  connection: AccountConnection,
  { projectId, branchId }: BranchIds,
  signal = connection.signal,
): Promise<readonly string[]> {
  if (!connection.isLocal) return [];
  const client = await connection.client();
  return await client.branches.listReplicationSlots(projectId, branchId, { signal });
}
