/**
 * Makes the Postgres binaries reachable for the account that the service becomes. If they are below /root, for example, they
 * are copied once to a folder that only root can write and every user can read.
 */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  linkSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import path from 'node:path';
import { packedClusterFile, pgDumpModule, type PostgresFolders } from '../postgres/server/programs.ts';
import { canReach, makeReadable, type UnixAccount } from './unixAccount.ts';
import {
  sourceIfUnused,
  recordedFolders,
  recordFolderSource,
  removeWithRecord,
  SYSTEM_STORAGE_FOLDER,
} from './storageFolder.ts';

/** The folders of a Postgres installation. Other files next to them stay private. */
const PARTS = ['bin', 'lib', 'share'];

/** Returns the folders of binaries that the account can use. If the first one is out of its reach, that is a copy. */
export function makeProgramsReachable(programs: PostgresFolders, account: UnixAccount): PostgresFolders {
  removeUnusedCopies();
  const { first, others } = programs;
  const isReachable = (folder: string) => canReach(path.join(folder, 'postgres'), account);
  return {
    ...programs,
    first: first === undefined || isReachable(first) ? first : ensureCopy(first),
    others: others.filter(isReachable),
  };
}

/** Copies the programs, unless there is a copy already. @returns the folder of the copied binaries */
function ensureCopy(folder: string): string {
  const from = path.dirname(folder);
  const copy = folderOfCopy(folder);
  if (!existsSync(copy)) {
    makeReadable(SYSTEM_STORAGE_FOLDER);
    // Another service may begin the same copy.
    const unfinished = mkdtempSync(`${copy}.unfinished-`);
    makeReadable(unfinished);
    for (const part of PARTS.filter((name) => existsSync(path.join(from, name))))
      linkTree(path.join(from, part), path.join(unfinished, part));
    const pgDump = pgDumpModule(folder);
    if (pgDump !== undefined) linkTree(path.dirname(pgDump), path.join(unfinished, 'pg_dump'));
    try {
      renameSync(unfinished, copy);
    } catch (error) {
      rmSync(unfinished, { recursive: true });
      if (!existsSync(copy)) throw error;
    }
  }
  // The packed cluster may be missing in the copy, because the program that made the copy may not have had it.
  const cluster = packedClusterFile(folder);
  if (cluster !== undefined) linkFileOnce(cluster, path.join(copy, path.basename(cluster)));
  recordFolderSource(copy, folder);
  return path.join(copy, path.basename(folder));
}

/** What a copy contains. Another text keeps copies of earlier versions from being used. */
const COPY_FORMAT = ['pg_dump', 'cluster', 'rights'];

/** Returns the folder of the copy. Its name changes when the binaries are replaced or copies get other content. */
function folderOfCopy(folder: string): string {
  const { size, mtimeMs, ino } = statSync(path.join(folder, 'postgres'));
  const version = createHash('sha256')
    .update([...COPY_FORMAT, path.dirname(folder), size, mtimeMs, ino].join('\n'))
    .digest('hex');
  return path.join(SYSTEM_STORAGE_FOLDER, `programs-${version.slice(0, 10)}`);
}

/** Removes the copies that no running service uses and whose original binaries are gone or were replaced. */
function removeUnusedCopies(): void {
  for (const copy of recordedFolders().filter((folder) => path.basename(folder).startsWith('programs-'))) {
    const source = sourceIfUnused(copy);
    if (source === undefined) continue;
    if (!existsSync(path.join(source, 'postgres')) || folderOfCopy(source) !== copy) removeWithRecord(copy);
  }
}

/**
 * Links or copies a folder. Hard links are used if the file system allows them, because copying would delay the first branch until
 * the files are on disk.
 */
function linkTree(from: string, to: string): void {
  makeReadable(to);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [path.join(from, entry.name), path.join(to, entry.name)];
    if (entry.isDirectory()) linkTree(source, target);
    else if (entry.isSymbolicLink()) cpSync(source, target, { verbatimSymlinks: true });
    else linkOrCopy(source, target);
  }
}

/** Adds a file that is complete from the beginning, because others may look for it. */
function linkFileOnce(from: string, to: string): void {
  if (existsSync(to)) return;
  const temporary = `${to}.${process.pid}`;
  linkOrCopy(from, temporary);
  renameSync(temporary, to);
}

/** Lets others read and execute the file if its owner may, even if it was installed with a umask of root that forbids that. */
function linkOrCopy(from: string, to: string): void {
  const mode = statSync(from).mode & 0o777;
  const own = mode & 0o500;
  const rights = mode | (own >> 3) | (own >> 6);
  if (rights !== mode || !tryLink(from, to)) {
    cpSync(from, to);
    chmodSync(to, rights);
  }
}

/** Links a file. Returns false if that fails, for example across file systems, so that the file can only be copied. */
function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch {
    return false;
  }
}
