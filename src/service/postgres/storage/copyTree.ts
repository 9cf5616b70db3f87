/** Copies a data directory. A server may be running on it. */
import { constants } from 'node:fs';
import { copyFile, mkdir, readdir, readlink, symlink } from 'node:fs/promises';
import path from 'node:path';
import { ignoreMissing } from '../../../base/files.ts';
import { limitConcurrency } from '../../../base/limitConcurrency.ts';

interface CopyOptions {
  /** Whether to skip a file or folder, by its path relative to the data directory, with slashes. */
  readonly omit?: (relative: string) => boolean;
  /** Stops the copy when aborted. */
  readonly shutdownSignal?: AbortSignal;
}

/** The most files that are copied at the same time: enough to keep a disk busy, and well below any limit on open files. */
const MAX_CONCURRENT_FILES = 16;
/** Data directories copied at the same time: few, so that the first is complete early. */
const runTwoAtATime = limitConcurrency(2);

/**
 * Skips files that are deleted during the copy, as a base backup must.
 * @throws {EngineError} if it was stopped, or the error of a file; nothing is written after that
 */
export async function copyTree(from: string, to: string, options: CopyOptions): Promise<void> {
  return runTwoAtATime(async () => copyAll(from, to, options));
}

async function copyAll(from: string, to: string, options: CopyOptions): Promise<void> {
  const files: string[] = [];
  await copyFolders(from, to, '', options, files);
  const ends = await Promise.allSettled(
    Array.from({ length: MAX_CONCURRENT_FILES }, async () => {
      for (let file = files.pop(); file !== undefined; file = files.pop()) {
        if (options.shutdownSignal?.aborted === true) return;
        // If the file system supports it, the copy shares its blocks with the original until one of them changes.
        const mode = constants.COPYFILE_FICLONE;
        await copyFile(path.join(from, file), path.join(to, file), mode).catch(ignoreMissing);
      }
    }),
  );
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  options.shutdownSignal?.throwIfAborted();
}

/** Creates the folders and collects the files, which are copied when all folders exist. */
async function copyFolders(
  from: string,
  to: string,
  below: string,
  options: CopyOptions,
  files: string[],
): Promise<void> {
  await mkdir(path.join(to, below), { recursive: true, mode: 0o700 });
  const entries = (await readdir(path.join(from, below), { withFileTypes: true }).catch(ignoreMissing)) ?? [];
  for (const entry of entries) {
    const relative = path.posix.join(below, entry.name);
    if (options.omit?.(relative) === true) continue;
    if (entry.isDirectory()) await copyFolders(from, to, relative, options, files);
    else if (entry.isSymbolicLink())
      await symlink(await readlink(path.join(from, relative)), path.join(to, relative));
    else files.push(relative);
  }
}
