/** Where the running program is, and whether other users can replace a program, by writing to it or a folder above it. */
import { lstatSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';

/** The bundle, or this file if the source itself runs. */
const programFile = import.meta.filename;

/**
 * The way to the root from this source, from the bundle in `dist/`, or from that of `npm run service` in
 * `node_modules/.cache/hosted-postgres/`.
 */
const PATH_TO_ROOT: Readonly<Record<string, string>> = {
  '.ts': '../../../..',
  '.js': '..',
  '.mjs': '../../..',
};

/** The root folder of the extension or the clone. */
export const installationFolder = path.resolve(
  path.dirname(programFile),
  PATH_TO_ROOT[path.extname(programFile)] ?? '.',
);

/** The `admin` group. Its members can become root, and Homebrew's folders are writable for it. */
const MACOS_ADMIN = 80;

/** The ids of trusted users: root, this user, and the owner of the running code. */
const owners: ReadonlySet<number> = new Set([0, process.getuid?.() ?? 0, statSync(programFile).uid]);

/** Returns the path without links; undefined if the file doesn't exist. */
export function realPathIfExists(file: string): string | undefined {
  try {
    return realpathSync(file);
  } catch {
    return undefined;
  }
}

/**
 * @param file a path without links
 * @returns the part of the path that others can change, if any
 */
export function findChangeablePart(file: string): string | undefined {
  if (process.platform === 'win32') return undefined;
  const folder = path.dirname(file);
  for (let part = file; ; part = path.dirname(part)) {
    const isAbove = part !== file && part !== folder;
    if (!isTrustedOwner(part, { isAbove })) return part;
    if (part === path.dirname(part)) return undefined;
  }
}

/** Does what {@link findChangeablePart} does, for many files. Checks each of their folders only once. */
export function findChangeableAmong(files: readonly string[]): string | undefined {
  const folders = new Set<string>();
  for (const file of files) {
    const isSeen = folders.has(path.dirname(file));
    const changeable =
      isSeen && isTrustedOwner(file, { isAbove: false }) ? undefined : findChangeablePart(file);
    if (changeable !== undefined) return changeable;
    folders.add(path.dirname(file));
  }
  return undefined;
}

/**
 * Whether only trusted users can change a part of a path.
 * @param options `isAbove`: false for the program and its folder. Above them, a sticky folder such as /tmp is safe
 */
function isTrustedOwner(part: string, { isAbove }: { readonly isAbove: boolean }): boolean {
  const { uid, gid, mode } = lstatSync(part);
  if (!owners.has(uid)) return false;
  if (isAbove && (mode & 0o1000) !== 0) return true;
  const isOpenToGroup = (mode & 0o020) !== 0 && !isOwnGroup(gid);
  return !isOpenToGroup && (mode & 0o002) === 0;
}

/** Whether only this user is in the group: on Debian and Fedora each user has a private group of the same number, which may write by default. */
const isOwnGroup = (gid: number): boolean =>
  process.platform === 'darwin' ? gid === MACOS_ADMIN : gid !== 0 && owners.has(gid);
