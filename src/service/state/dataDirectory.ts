/** Opens the private directory with all data of the service, and creates it if it is missing. See `instanceLock.ts` for its lock. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createDataFolder } from '../../localService/dataFolder.ts';
import { systemReason } from '../../base/systemReason.ts';
import { unusableStartError, StartError } from '../core/serviceErrors.ts';

export interface DataDirectory {
  readonly folder: string;
  readonly isTemporary: boolean;
}

/** How the names of temporary directories begin. */
export const TEMPORARY_PREFIX = 'hosted-postgres-temporary-';

/**
 * Opens the data directory, and creates it if it is missing.
 * @param dataDir undefined for a temporary directory, which is deleted when the process exits
 * @throws {StartError} if it cannot be created or written
 */
export function openDataDirectory(dataDir: string | undefined): DataDirectory {
  if (dataDir === undefined) {
    const folder = createTemporaryFolder();
    process.once('exit', () => removeTemporaryDirectory(folder));
    return { folder, isTemporary: true };
  }
  const folder = createUsableFolder(path.resolve(dataDir));
  requireReadable(folder);
  return { folder, isTemporary: false };
}

/**
 * Rejects the data of version 0.2, which can't be read. A new account next to it would look as if everything was lost.
 * @throws {StartError}
 */
function requireReadable(folder: string): void {
  const old = path.join(folder, 'account.journal');
  if (!existsSync(old) || existsSync(path.join(folder, 'postgres', 'account.json'))) return;
  throw new StartError(
    'olderFormat',
    `${old} is the account of version 0.2 or older, which this version can't read. It was not changed. Dump its databases with that version, or choose another data directory.`,
  );
}

/** @throws {StartError} */
function createTemporaryFolder(): string {
  const parent = os.tmpdir();
  try {
    return mkdtempSync(path.join(parent, TEMPORARY_PREFIX));
  } catch (error) {
    throw unusableStartError(
      `Cannot create a temporary folder in ${parent} (TMPDIR): ${systemReason(error)}`,
    );
  }
}

/** The longest path of the folder: Postgres uses paths of at most 259 characters, and needs up to 119 of them below the folder. */
const MAX_WINDOWS_PATH = 140;

/** Creates the folder with its parents unless it exists. @throws {StartError} if it cannot be created or written */
export function createUsableFolder(folder: string): string {
  if (process.platform === 'win32' && folder.length > MAX_WINDOWS_PATH)
    throw unusableStartError(
      `Cannot use the data directory ${folder}: Postgres on Windows needs a path of at most ${MAX_WINDOWS_PATH} characters. Choose another folder.`,
    );
  try {
    createDataFolder(folder);
    return folder;
  } catch (error) {
    throw unusableStartError(systemReason(error));
  }
}

export function removeTemporaryDirectory(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  } catch {
    // The system cleans up its temporary folder.
  }
}
