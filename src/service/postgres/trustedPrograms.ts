/**
 * Tells whether other users can replace a program that the service is about to run: by writing to it, or to a folder on
 * the way to it.
 */
import { lstatSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { programFile } from '../ownFolder.ts';

/** Group of the administrators, who are as good as root on macOS; Homebrew's folders are open to it. */
const MACOS_ADMIN = 80;

/** Root, we, and whoever owns the code that is running. */
const owners: ReadonlySet<number> = new Set([0, process.getuid?.() ?? 0, statSync(programFile).uid]);

/** @returns undefined when there is no such file */
export function realPath(file: string): string | undefined {
  try {
    return realpathSync(file);
  } catch {
    return undefined;
  }
}

/**
 * @param file a real path: without links, nothing but the folders in it decides what it names
 * @returns the part of it that others can change, if any
 */
export function changeableByOthers(file: string): string | undefined {
  if (process.platform === 'win32') return undefined;
  const folder = path.dirname(file);
  for (let part = file; ; part = path.dirname(part)) {
    const isAbove = part !== file && part !== folder;
    if (!isOurs(part, isAbove)) return part;
    if (part === path.dirname(part)) return undefined;
  }
}

/** @param isAbove in a sticky folder, such as /tmp, what belongs to us stays; others can add to it, though */
function isOurs(part: string, isAbove: boolean): boolean {
  const { uid, gid, mode } = lstatSync(part);
  if (!owners.has(uid)) return false;
  if (isAbove && (mode & 0o1000) !== 0) return true;
  const isOpenToGroup = (mode & 0o020) !== 0 && !isOwnGroup(gid);
  return !isOpenToGroup && (mode & 0o002) === 0;
}

/** Where each user has a group (Debian, Fedora), it has the user's number, and files are open to it by default. */
const isOwnGroup = (gid: number): boolean =>
  process.platform === 'darwin' ? gid === MACOS_ADMIN : gid !== 0 && owners.has(gid);
