/** Folders and files that only the user of the engine can read, and that are created completely or not at all. */
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod/mini';
import { EngineError } from '../../core/computeEngine.ts';
import { ignoreMissing } from '../../../base/files.ts';
import { renameOverSync } from '../../../base/replaceFile.ts';
import { hasRemedy, systemReason } from '../../../base/systemReason.ts';

/** Whether there is a file or folder. Unlike `existsSync`, it throws if the system can't say. */
export const isThere = (file: string): boolean => statSync(file, { throwIfNoEntry: false }) !== undefined;

/** Returns the names in a folder; none if it does not exist. */
export const namesInFolder = (folder: string): string[] => (isThere(folder) ? readdirSync(folder) : []);

/** Creates a folder and its parents. */
export function makePrivateFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
}

/** Removes a file or folder if it exists. On Windows, files of a server that has just ended stay open for a moment. */
export const removeFileOrFolder = (file: string): void => rmSync(file, REMOVAL);

/** Removes a folder with much data, without blocking this thread. */
export const removeLargeFolder = async (folder: string): Promise<void> => rm(folder, REMOVAL);

const REMOVAL = { recursive: true, force: true, maxRetries: 5 };

/** Writes a file. After a crash it has either the old text or the new. @throws {EngineError} which names the file */
export function writePrivateFile(file: string, text: string): void {
  const unfinished = `${file}.new`;
  try {
    writeFileSync(unfinished, text, { mode: 0o600, flush: true });
    renameOverSync(unfinished, file);
  } catch (error) {
    // The system's message does not name the file.
    throw new EngineError(`Cannot write ${file}: ${systemReason(error)}`, { cause: error });
  }
}

/**
 * Reads a JSON file with passwords.
 * @param remedy what to do about a damaged file without a backup
 * @throws {EngineError} which names a damaged file
 */
export function readPrivateJson<T>(file: string, schema: z.ZodMiniType<T>, remedy: string): T {
  const text = readFileSync(file, 'utf8');
  try {
    return z.parse(schema, JSON.parse(text));
  } catch {
    // The parser's message may contain a password.
    throw new EngineError(`${file} is damaged. Restore it from a backup, or ${remedy}.`);
  }
}

/**
 * Creates a folder. One that has files already isn't replaced.
 * @param fill creates the folder under another name; then it is renamed
 * @param unfinished the other name
 * @throws what `fill` throws, after the unfinished folder was removed, or an {@link EngineError} that names the folder if the system has a remedy
 */
export async function createAtomically<T>(
  folder: string,
  fill: (unfinished: string) => Promise<T>,
  unfinished = `${folder}.new`,
): Promise<T> {
  // A service that was killed may have left the file or folder.
  removeFileOrFolder(unfinished);
  try {
    const result = await fill(unfinished);
    renameOverSync(unfinished, folder);
    return result;
  } catch (error) {
    removeFileOrFolder(unfinished);
    if (!hasRemedy(error)) throw error;
    throw new EngineError(`Cannot write ${folder}: ${systemReason(error)}`, { cause: error });
  }
}

/** Returns the bytes of the databases in a data directory, without the write-ahead log. */
export const databasesSize = async (dataDir: string): Promise<number> =>
  folderSize(path.join(dataDir, 'base'));

/** Returns the bytes of the files in a folder. */
export async function folderSize(folder: string): Promise<number> {
  let bytes = 0;
  for (const name of await readdir(folder)) {
    const file = path.join(folder, name);
    // Postgres may have removed the file, or it removes the folder now.
    const found = await stat(file).catch(() => undefined);
    const size = found?.isDirectory() === true ? await folderSize(file).catch(ignoreMissing) : found?.size;
    bytes += size ?? 0;
  }
  return bytes;
}
