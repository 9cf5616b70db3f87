/** Starts the engine process of a service that runs as root, and does the few steps that need root's rights. */
import type { ComputeEngine } from '../core/computeEngine.ts';
import type { EngineChoice } from '../postgres/engine.ts';
import { findPrograms } from '../postgres/config/programs.ts';
import { nobody } from './account.ts';
import { reachablePrograms } from './reachablePrograms.ts';
import { RemoteEngine } from './remoteEngine.ts';
import { handOverLogins } from './rootsFile.ts';
import { storageFolder } from './storageFolder.ts';
import { abandonedFolders, removeEmptied } from './storageRegistry.ts';

export async function startEngineProcess(choice: EngineChoice): Promise<ComputeEngine> {
  const { dataDir, postgresPath, isTemporary, log } = choice;
  const account = nobody();
  const prepare = () => {
    const root = storageFolder(dataDir, account);
    handOverLogins(root, account);
    return { root, programs: reachablePrograms(findPrograms(postgresPath), account), isTemporary };
  };
  const engine = await RemoteEngine.start({ account, prepare, log });
  for (const folder of abandonedFolders(account))
    engine.empty(folder).then(
      (isEmpty) => isEmpty && removeEmptied(folder),
      (error: unknown) => log(`Could not remove ${folder}: ${String(error)}`),
    );
  return engine;
}
