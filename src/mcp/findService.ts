/** Finds a local service that runs, and takes a lease, which keeps it running for the agent. */
import path from 'node:path';
import { findAddress, findOwner } from '../api/localServiceFiles.ts';
import { takeLease, type Lease } from '../api/localServiceLease.ts';

const { HOSTED_POSTGRES_AGENTS: agents = '', HOSTED_POSTGRES_DATA_DIR: chosen = '' } = process.env;

export interface FoundService {
  readonly dataDir: string;
  readonly lease: Lease;
}

/** @param folder of the agent, unless it is gone */
export async function findService(folder: string | undefined): Promise<FoundService | undefined> {
  for (const dataDir of dataDirs(folder)) {
    const owner = await findOwner(dataDir);
    const address = owner && (await findAddress(dataDir, owner));
    const lease = address && (await takeLease(address).catch(() => undefined));
    if (lease !== undefined) return { dataDir, lease };
  }
  return undefined;
}

/** The one that the user has chosen, or else that of the project around the folder, and that of the extension. */
function dataDirs(folder: string | undefined): string[] {
  if (chosen !== '') return [path.resolve(chosen)];
  const found: string[] = [];
  for (let at = folder; at !== undefined; at = path.dirname(at) === at ? undefined : path.dirname(at))
    found.push(path.join(at, '.hosted-postgres'));
  // Beside the records of windows, in the extension's global storage.
  return agents === '' ? found : [...found, path.join(path.dirname(agents), 'local-service')];
}
