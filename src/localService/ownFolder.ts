/** The folder `.hosted-postgres` of a project, which `npx hosted-postgres` and `hosted-postgres/test` share. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createFileSync } from '../base/replaceFile.ts';
import { systemReason } from '../base/systemReason.ts';
import { createDataFolder } from './dataFolder.ts';

/** The name of the data directory in a project. */
export const PROJECT_DATA_FOLDER = '.hosted-postgres';

/** The name of the project of `hosted-postgres/test`. It is also the project's id, if the library started the service. */
export const TEST_PROJECT = 'hosted-postgres-tests';

/**
 * Creates a data directory. A service that root has started runs as the user `nobody`, who must be able to reach folders in the
 * directory.
 * @param options `ignoreInGit`: whether to add a `.gitignore`, because the directory is inside a project
 * @throws {Error} if it can't be written
 */
export function createReachableDataFolder(
  folder: string,
  { ignoreInGit }: { readonly ignoreInGit: boolean },
): void {
  try {
    createDataFolder(folder, 0o711);
    if (ignoreInGit) createFileSync(path.join(folder, '.gitignore'), '*\n');
  } catch (error) {
    const cure = 'Start in another folder, or use --data-dir or --temporary.';
    throw new Error(`${systemReason(error)}\n${cure}`, { cause: error });
  }
}

/** Returns the API key, the same at each start on a folder, so that other programs may keep it. */
export function readOrCreateKey(folder: string): string {
  const file = path.join(folder, 'api-key');
  createFileSync(file, newApiKey());
  return readFileSync(file, 'utf8').trim();
}

export const newApiKey = (): string => randomBytes(24).toString('hex');
