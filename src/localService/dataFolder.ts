/** Creates the data directory of a local service, in each program that may be the first to use it. */
import { accessSync, constants, mkdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { fieldsOf } from '../base/fieldsOf.ts';
import { systemReason } from '../base/systemReason.ts';

/** Creates the folder with its parents unless it exists. @throws {Error} with the reason if it can't be created or written */
export function createDataFolder(folder: string, mode = 0o700): void {
  try {
    mkdirSync(folder, { recursive: true, mode });
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const reason = systemReason(createOneByOne(folder) ?? error);
    throw new Error(`Cannot use the data directory ${folder}: ${reason}`, { cause: error });
  }
}

/**
 * Creates a folder and each missing one above it one at a time, because Node reports ENOENT for any reason if several are missing.
 * @returns why the first one can't be created: a file in its place, a read-only file system, or a name that Windows doesn't allow
 */
function createOneByOne(folder: string): unknown {
  const parent = path.dirname(folder);
  const reason = parent === folder ? undefined : createOneByOne(parent);
  if (reason !== undefined) return reason;
  try {
    const found = statSync(folder, { throwIfNoEntry: false });
    if (found?.isFile()) return new Error(`${folder} is a file. Choose another folder.`);
    if (found === undefined) mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    const { code } = fieldsOf(error);
    if (code === 'EROFS') return error;
    if (process.platform === 'win32' && (code === 'ENOENT' || code === 'EINVAL'))
      return new Error(
        `Windows allows no folder with the name ${path.basename(folder)}. Choose another one.`,
      );
  }
  return undefined;
}
