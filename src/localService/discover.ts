/**
 * Reads the files that the local service writes for windows: `service.lock` names its process, `service.json` its address.
 * Both remain after a crash, so they count only while that process runs.
 */
import path from 'node:path';
import { isLoopback } from '../api/addresses/host.ts';
import { baseUrlOrUndefined, type BaseUrl } from '../api/transport/baseUrl.ts';
import { readOwnJson } from '../base/files.ts';
import { identityIn, isRunning, type ProcessIdentity } from '../base/processIdentity.ts';

const LOCK = 'service.lock';

/** Where the service listens, and how to prove that one may use it. */
export interface ServiceAddress {
  readonly baseUrl: BaseUrl;
  /** The secret with which the service and its clients prove their identity, see `leaseProof.ts`. */
  readonly leaseSecret: string;
  /** Missing for 0.3 and earlier, and for a service that runs from its sources. */
  readonly version?: string;
}

/** Returns the running process that has locked the data directory. */
export async function findServiceOwner(dataDir: string): Promise<ProcessIdentity | undefined> {
  const owner = identityIn(readOwnJson(path.join(dataDir, LOCK)));
  return owner !== undefined && (await isRunning(owner)) ? owner : undefined;
}

/** Whether the service that has locked the data directory has noted that it is ending. */
export const isServiceEnding = (dataDir: string): boolean =>
  readOwnJson(path.join(dataDir, LOCK))['isEnding'] === true;

/** Returns the address of `owner`, or undefined until it has published it. */
export async function findServiceAddress(
  dataDir: string,
  owner: ProcessIdentity,
): Promise<ServiceAddress | undefined> {
  const { baseUrl, pid, leaseSecret, version } = readOwnJson(path.join(dataDir, 'service.json'));
  const address = typeof baseUrl === 'string' ? baseUrlOrUndefined(baseUrl) : undefined;
  if (address === undefined || !isLoopback(new URL(address).hostname)) return undefined;
  if (pid !== owner.pid || typeof leaseSecret !== 'string' || leaseSecret === '') return undefined;
  return { baseUrl: address, leaseSecret, ...(typeof version === 'string' && { version }) };
}

/** @param version undefined for 0.3 and earlier, which don't say it */
export const isEarlierVersion = (version: string | undefined, own: string): boolean =>
  version === undefined || version.localeCompare(own, 'en', { numeric: true }) < 0;
