/** Starts the engine process of a service that runs as root, and does the few steps that need root's rights. */
import type { ComputeEngine } from '../core/computeEngine.ts';
import { findPrograms } from '../postgres/config/programs.ts';
import type { EngineChoice } from '../postgres/engine.ts';
import { nobody } from './unixAccount.ts';
import { handOverLogins } from './earlierLogins.ts';
import { reachablePrograms } from './reachablePrograms.ts';
import { RemoteEngine } from './remoteEngine.ts';
import { removeEmptied, staleFolders } from './staleStorage.ts';
import { storageFolder } from './storageFolder.ts';

export async function startEngineProcess(choice: EngineChoice): Promise<ComputeEngine> {
  const { dataDir, postgresPath, isTemporary, log } = choice;
  const account = nobody();
  const prepare = () => {
    const root = storageFolder(dataDir, account);
    handOverLogins(root, account);
    return { root, programs: reachablePrograms(findPrograms(postgresPath), account), isTemporary };
  };
  const engine = await RemoteEngine.start({ account, prepare, log });
  // If it fails, for example because another service removed the folder first, the next service tries again.
  for (const folder of staleFolders(account))
    engine
      .empty(folder)
      .then((isEmpty) => isEmpty && removeEmptied(folder))
      .catch(() => undefined);
  return engine;
}
