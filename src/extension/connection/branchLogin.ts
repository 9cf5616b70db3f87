/** The password that the service has for a login. */
import type { Credentials } from '../../api/addresses/connectionUri.ts';
import type { Compute } from '../../api/records/records.ts';
import type { AccountConnection } from '../account/accountConnection.ts';
import type { Login } from './connectionDefaults.ts';
import { pooledHost } from '../../api/addresses/host.ts';

export const hostOf = (compute: Compute, isPooled: boolean): string =>
  (isPooled ? pooledHost(compute) : undefined) ?? compute.host;

/**
 * @param login pooled only if the compute has a host for that
 * @returns undefined if the service doesn't provide passwords
 * @throws {ApiError} also if the connection is closed before the reply, or the host of the reply is another one
 */
export async function credentialsFor(
  connection: AccountConnection,
  compute: Compute,
  login: Login,
  signal: AbortSignal = connection.signal,
): Promise<Credentials | undefined> {
  const client = await connection.client();
  const ids = { computeId: compute.id, branchId: compute.branch_id };
  const pooled = login.pooled && pooledHost(compute) !== undefined;
  const query = { ...login, ...ids, pooled, host: hostOf(compute, pooled) };
  return await client.findCredentials(compute.project_id, query, { signal });
}
