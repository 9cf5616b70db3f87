/** Paths of files that may be links. */
import { lstat, realpath, stat } from 'node:fs/promises';
import path from 'node:path';

/** `outside`: not in the folders. `noFile`: for example a folder, FIFO or device. */
export type ResolveProblem = 'brokenLink' | 'outside' | 'noFile';

export interface ResolvedFile {
  /** With links resolved. The file may not exist. */
  readonly path: string;
  /** Whether the path itself is a link, not only a parent folder. */
  readonly isLink: boolean;
  readonly problem?: ResolveProblem;
}

/** Resolves links, which may lead out of the folders. @throws {Error} if the file's folder doesn't exist */
export async function resolveFile(file: string, folders: readonly string[]): Promise<ResolvedFile> {
  const entry = path.join(await realpath(path.dirname(file)), path.basename(file));
  const stats = await lstat(entry).catch(ignoreMissing);
  const isLink = stats?.isSymbolicLink() === true;
  const real = stats === undefined ? entry : await realpath(entry).catch(ignoreMissing);
  if (real === undefined) return { path: entry, isLink, problem: 'brokenLink' };
  const roots = await Promise.all(folders.map((folder) => realpath(folder).catch(ignoreMissing)));
  const isInside = roots.some((root) => root !== undefined && isWithin(root, real));
  if (!isInside) return { path: real, isLink, problem: 'outside' };
  const isFile = stats === undefined || (await stat(real)).isFile();
  return { path: real, isLink, ...(isFile ? {} : { problem: 'noFile' }) };
}

/** Whether a path is the folder or in it. Both are absolute; resolve links first. */
export function isWithin(folder: string, file: string): boolean {
  const relative = path.relative(folder, file);
  return !path.isAbsolute(relative) && relative.split(path.sep)[0] !== '..';
}

/** Use this to catch errors of operations on a file that may not exist. */
export function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
