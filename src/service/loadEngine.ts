/** Loads the engine, and prepares the folder for all data. If root starts the service, it gives up root's rights here. */
import path from 'node:path';
import { fieldsOf } from '../base/fieldsOf.ts';
import type { AvailableExtensions } from '../localService/leaseProof.ts';
import type { ComputeEngine } from './core/computeEngine.ts';
import { unusableStartError } from './core/serviceErrors.ts';
import type { ServiceOptions } from './options.ts';
import type { ExtensionChoice } from './postgres/extensions/moreExtensions.ts';
import { giveUpRoot, type UnixAccount } from './privileges/unixAccount.ts';
import { makeProgramsReachable } from './privileges/reachablePrograms.ts';
import { findOrCreateStorageFolder, createTemporaryStorage } from './privileges/storageFolder.ts';
import { createUsableFolder, removeTemporaryDirectory, type DataDirectory } from './state/dataDirectory.ts';
import { findAbandonedDirectories } from './state/instanceLock.ts';

interface EngineChoice {
  readonly options: Pick<ServiceOptions, 'postgres' | 'postgresPath' | 'allowedOrigins'> & ExtensionChoice;
  readonly directory: DataDirectory;
  /** The account that the service runs as if root started it. */
  readonly account: UnixAccount | undefined;
  /** Writes a line to the service's log. */
  readonly log: (line: string) => void;
}

interface LoadedEngine {
  /** The private folder with all data of the service. */
  readonly storage: string;
  /** Creates the engine without importing more code. */
  readonly create: () => ComputeEngine;
  readonly extensions: () => AvailableExtensions;
}

/** Removes temporary data directories whose services have crashed, in the background, after the end of the servers left there. */
function removeAbandoned(directories: readonly string[], stopServers: (root: string) => Promise<void>): void {
  for (const folder of directories)
    stopServers(path.join(folder, 'postgres')).then(
      () => removeTemporaryDirectory(folder),
      () => undefined,
    );
}

/**
 * Loads the engine and removes what crashed services have left. After this, a service that root started can't load more code.
 * @throws {StartError}
 */
export async function loadEngine(choice: EngineChoice): Promise<LoadedEngine> {
  const { directory, account, log } = choice;
  const { postgres, postgresPath, allowedOrigins } = choice.options;
  if (!postgres) {
    const { createSimulatedEngine } = await import('./postgres/withoutPostgres.ts');
    const extensions = () => ({ included: [], found: [] });
    return { storage: openStorageWithoutRoot(directory, account), create: createSimulatedEngine, extensions };
  }
  const { availableExtensions, createPostgresEngine, findPrograms, stopAbandonedServers } =
    await import('./postgres/engine.ts');
  const found = findPrograms(postgresPath);
  const programs = account === undefined ? found : makeProgramsReachable(found, account);
  // This comes before root's rights are given up, because the locks in these directories are root's.
  const abandoned = findAbandonedDirectories(account?.uid ?? process.getuid?.());
  const storage = openStorageWithoutRoot(directory, account);
  removeAbandoned(abandoned, (root) => stopAbandonedServers(root, programs));
  const { isTemporary } = directory;
  const { extensionsDir, installedExtensions, trustedExtensions } = choice.options;
  const extensions = { extensionsDir, installedExtensions, trustedExtensions };
  const options = { root: storage, isTemporary, programs, allowedOrigins, ...extensions, log };
  return {
    storage,
    create: () => createPostgresEngine(options),
    extensions: () => availableExtensions(programs, extensions),
  };
}

function openStorageWithoutRoot(
  { folder, isTemporary }: DataDirectory,
  account: UnixAccount | undefined,
): string {
  if (account === undefined) return createUsableFolder(path.join(folder, 'postgres'));
  try {
    const storage = isTemporary
      ? createTemporaryStorage(folder, account)
      : findOrCreateStorageFolder(folder, account);
    giveUpRoot(account);
    return storage;
  } catch (error) {
    const { code } = fieldsOf(error);
    // These are the errors in a user namespace with a single user, and in a container that lacks the capability to change users.
    if (code !== 'EINVAL' && code !== 'EPERM') throw error;
    throw unusableStartError(
      `Root can't become another user here (${code}), and Postgres doesn't run as root. Start it as an ordinary user, such as with docker run --user 1000. In a sandbox whose only user is root: unshare --user --map-user=1000 --map-group=1000 COMMAND`,
    );
  }
}
