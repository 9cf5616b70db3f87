/** The replication slots that end when a branch gets other data. */
import type { AccountConnection } from '../account/accountConnection.ts';
import type { BranchIds } from '../account/refs.ts';

/** @returns none if the service doesn't say it, which is no reason to refuse the change */
export async function endingSlots(
  connection: AccountConnection,
  { projectId, branchId }: BranchIds,
  signal = connection.signal,
): Promise<readonly string[]> {
  try {
    const client = await connection.client();
    return await client.listReplicationSlots(projectId, branchId, { signal });
  } catch {
    return [];
  }
}
