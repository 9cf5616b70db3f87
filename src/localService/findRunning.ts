/** Finds a local service that runs, and takes a lease, which keeps it running for the agent. */
import path from 'node:path';
import { takeLeaseOfRunning, type Lease } from './lease.ts';
import { PROJECT_DATA_FOLDER } from './ownFolder.ts';

const { HOSTED_POSTGRES_AGENTS: agents = '', HOSTED_POSTGRES_DATA_DIR: chosenDataDir = '' } = process.env;

/** The data directory of the extension's service: next to the records of windows, in its global storage. */
const extensionDataDir = agents === '' ? undefined : path.join(path.dirname(agents), 'local-service');

/** A service that runs, and the lease that keeps it running. */
export interface RunningService {
  /** Where agents remember what they have created. With the extension's service, it is the folder that its windows use, too. */
  readonly memoryFolder: string;
  readonly lease: Lease;
}

/** Takes a lease of the first service that runs. @param folder the folder of the agent, unless it is gone */
export async function findRunningService(folder: string | undefined): Promise<RunningService | undefined> {
  for (const dataDir of listDataDirs(folder)) {
    const lease = await takeLeaseOfRunning(dataDir).catch(() => undefined);
    if (lease !== undefined) return { memoryFolder: dataDir === extensionDataDir ? agents : dataDir, lease };
  }
  return undefined;
}

/**
 * Returns the data directories to look in: the one that the user has chosen; otherwise those of the projects around the folder,
 * then that of the extension.
 */
function listDataDirs(folder: string | undefined): string[] {
  if (chosenDataDir !== '') return [path.resolve(chosenDataDir)];
  const found: string[] = [];
  for (let at = folder; at !== undefined; at = path.dirname(at) === at ? undefined : path.dirname(at))
    found.push(path.join(at, PROJECT_DATA_FOLDER));
  return extensionDataDir === undefined ? found : [...found, extensionDataDir];
}
