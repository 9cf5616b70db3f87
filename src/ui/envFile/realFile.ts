/** Resolves links in a path of the workspace. They may lead to a tracked file or out of the workspace. */
import { lstat, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { l10n } from 'vscode';

export interface RealFile {
  /** The path with links resolved. The file may not exist. */
  readonly path: string;
  /** Whether the path itself is a link, not only a parent folder. */
  readonly isLink: boolean;
}

/** @param folders of the workspace. @throws {Error} for a broken link, a link out of the workspace, and anything but a file */
export async function realFile(file: string, folders: readonly string[]): Promise<RealFile> {
  const name = path.basename(file);
  const parent = await realpath(path.dirname(file));
  const entry = await lstat(path.join(parent, name)).catch(ignoreMissing);
  const real =
    entry === undefined
      ? path.join(parent, name)
      : await realpath(path.join(parent, name)).catch(ignoreMissing);
  if (real === undefined) throw new Error(l10n.t("{0} is a link to a file that doesn't exist.", name));
  const roots = await Promise.all(folders.map((folder) => realpath(folder).catch(ignoreMissing)));
  if (!roots.some((root) => root !== undefined && isWithin(root, real)))
    throw new Error(l10n.t("{0} is a link to {1}, which isn't in the workspace.", name, real));
  if (entry === undefined) return { path: real, isLink: false };
  if (!(await stat(real)).isFile()) throw new Error(l10n.t("{0} isn't a file.", name));
  return { path: real, isLink: entry.isSymbolicLink() };
}

function isWithin(root: string, file: string): boolean {
  const relative = path.relative(root, file);
  return !path.isAbsolute(relative) && relative.split(path.sep)[0] !== '..';
}

/** Use this to catch errors of operations on a file that may not exist. */
export function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
