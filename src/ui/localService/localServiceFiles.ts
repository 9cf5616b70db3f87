/**
 * What the running local service leaves in its data directory for windows: `service.lock` names its process,
 * `service.json` its address. Both outlive a service that was killed, so neither is believed unless its process still runs.
 */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { baseUrlOrUndefined, isLoopback, type BaseUrl } from '../../api/baseUrl.ts';
import { isStillRunning, type ProcessIdentity } from '../../base/processIdentity.ts';

export interface ServiceAddress {
  readonly baseUrl: BaseUrl;
  /** See `leaseProof.ts`. */
  readonly leaseSecret: string;
}

/** The process that has the data directory, if it runs. */
export async function findOwner(dataDir: string): Promise<ProcessIdentity | undefined> {
  const { pid, startedAt, mark } = await readOwnFile(path.join(dataDir, 'service.lock'));
  if (!Number.isSafeInteger(pid) || Number(pid) <= 0 || typeof startedAt !== 'number') return undefined;
  const owner = { pid: Number(pid), startedAt, mark: typeof mark === 'string' ? mark : undefined };
  return (await isStillRunning(owner)) ? owner : undefined;
}

/** Where `owner` answers; undefined until it has said so. */
export async function findAddress(
  dataDir: string,
  owner: ProcessIdentity,
): Promise<ServiceAddress | undefined> {
  const { baseUrl, pid, leaseSecret } = await readOwnFile(path.join(dataDir, 'service.json'));
  const address = typeof baseUrl === 'string' ? baseUrlOrUndefined(baseUrl) : undefined;
  if (address === undefined || !isLoopback(new URL(address).hostname)) return undefined;
  if (pid !== owner.pid || typeof leaseSecret !== 'string' || leaseSecret === '') return undefined;
  return { baseUrl: address, leaseSecret };
}

/** Of a system that has no such flag: 0. A link is not followed, and a pipe does not block. */
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
const MAX_BYTES = 64 * 1024;

/** The JSON object in a file that only this user can have written; empty for anything else, such as a cut-off file. */
async function readOwnFile(file: string): Promise<Readonly<Record<string, unknown>>> {
  const handle = await open(file, OPEN_FLAGS).catch(() => undefined);
  try {
    const stat = await handle?.stat();
    if (handle === undefined || stat === undefined || !stat.isFile() || stat.size > MAX_BYTES) return {};
    if (process.getuid !== undefined && (stat.uid !== process.getuid() || (stat.mode & 0o022) !== 0))
      return {};
    const value: unknown = JSON.parse(await handle.readFile('utf8'));
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  } finally {
    await handle?.close();
  }
}
