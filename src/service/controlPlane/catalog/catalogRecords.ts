/** The databases, roles and connection URIs in the replies to the creation of a branch or a project. */
import { databaseUrl } from '../../../api/addresses/databaseUrl.ts';
import type { BranchCatalog } from '../../core/computeEngine.ts';
import type { BranchRecord, StoredCompute } from '../../state/storedRecords.ts';
import { poolerHost } from '../records/computeRecord.ts';
import { databaseRecord } from './databases.ts';
import { roleRecord, type RoleLogin } from './roles.ts';

/**
 * Returns the databases, roles and connection URIs for the reply to a creation. Like the public service's, it has URIs only if there
 * is one database and one role, whose password is known.
 */
export function catalogRecords(
  branch: BranchRecord,
  { databases, roles, password }: BranchCatalog,
  computes: readonly StoredCompute[],
) {
  const logins =
    password === undefined || databases.length > 1
      ? []
      : roles.flatMap((role) =>
          databases.map((database) => ({ role: role.name, password, database: database.name })),
        );
  return {
    databases: databases.map((database) => databaseRecord(branch, database)),
    roles: roles.map((role) => ({
      ...roleRecord(branch, role),
      ...(password === undefined ? {} : { password }),
    })),
    connection_uris: logins.flatMap((login) => computes.map((compute) => connectionRecord(login, compute))),
  };
}

const connectionRecord = (login: RoleLogin, compute: StoredCompute): object => ({
  connection_uri: connectionUriOf(login, compute.record.host),
  connection_parameters: { ...login, host: compute.record.host, pooler_host: poolerHost(compute) },
});

/** Returns a connection URI. It contains a password, so it is a secret. */
export const connectionUriOf = (login: RoleLogin, host: string): string => databaseUrl({ ...login, host });
