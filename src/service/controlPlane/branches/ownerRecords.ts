/** What the replies to creating a branch or a project say about its role, its database and how to connect. */
import type { BranchLogin } from '../../core/computeEngine.ts';
import type { BranchRecord, ComputeRecord } from '../../state/storedRecords.ts';
import { connectionUriOf } from '../connectionUri.ts';

/** @param login undefined without Postgres */
export function ownerRecords(
  branch: BranchRecord,
  login: BranchLogin | undefined,
  computes: readonly ComputeRecord[],
): object {
  if (login === undefined) return { roles: [], databases: [], connection_uris: [] };
  const { id: branch_id, created_at, updated_at } = branch;
  const { role, password, database } = login;
  return {
    roles: [{ branch_id, name: role, password, protected: false, created_at, updated_at }],
    databases: [{ id: 1, branch_id, name: database, owner_name: role, created_at, updated_at }],
    connection_uris: computes.map(({ host, pooler_host = host }) => ({
      connection_uri: connectionUriOf(login, host),
      connection_parameters: { database, password, role, host, pooler_host },
    })),
  };
}
