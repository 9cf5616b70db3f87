/** Syncs the files of a new data directory. */
import path from 'node:path';
import { syncFolder } from '../../../base/replaceFile.ts';
import { runInBatches } from '../../core/inBatches.ts';
import type { PostgresBinaries } from '../server/programs.ts';
import { runProgram } from '../server/runProgram.ts';
import type { EngineStorage } from '../storage/storage.ts';

interface SyncDependencies {
  readonly storage: EngineStorage;
  readonly isTemporary: boolean;
  readonly binaries: PostgresBinaries;
  readonly shutdownSignal: AbortSignal;
}

/**
 * Syncs a data directory. Postgres does not sync files that it did not write. Without this, they could be lost at a power failure.
 */
export async function syncToDisk(deps: SyncDependencies, dataDir: string): Promise<void> {
  if (deps.isTemporary) return;
  if (process.platform !== 'linux' || deps.binaries.major < 17) return runSync(deps, dataDir);
  // All data directories are on one file system, so any of the waiting folders stands for all.
  const shared =
    sharedSyncs.get(deps.storage) ??
    runInBatches(async ([folder = '']: readonly string[]) => runSync(deps, folder, '--sync-method=syncfs'));
  sharedSyncs.set(deps.storage, shared);
  return shared(dataDir);
}

/**
 * Records that a branch has data, after it was created or renamed, and makes it durable that the branch has its folder, and the folder
 * its data.
 */
export async function recordData(
  { storage, isTemporary }: Pick<SyncDependencies, 'storage' | 'isTemporary'>,
  branchId: string,
): Promise<void> {
  const folder = storage.branch(branchId);
  if (!isTemporary) for (const each of [folder, path.dirname(folder)]) await syncFolder(each);
  storage.noteData(branchId);
}

/**
 * The syncs in progress. One is a single system call for the whole file system instead of one for each file, so all folders that
 * wait share it.
 */
const sharedSyncs = new WeakMap<EngineStorage, (dataDir: string) => Promise<void>>();

async function runSync(deps: SyncDependencies, dataDir: string, ...method: readonly string[]) {
  await runProgram(deps.binaries.initdb, ['--sync-only', ...method, '-D', dataDir], {
    cwd: deps.storage.root,
    signal: deps.shutdownSignal,
  });
}
