/**
 * The folder for the service's data when root starts it. Root creates it in a folder that only root can write, gives it to the
 * account that the service runs as, and never touches its contents. It is `postgres` in the data directory. If the account
 * cannot reach that (below /root, for example), it is in the system's folder, and a note in the data directory names it.
 *
 * A file of root next to each folder in the system's folder records its data directory.
 */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { isRunningSync, ownIdentity, type ProcessIdentity } from '../../base/processIdentity.ts';
import { systemReason } from '../../base/systemReason.ts';
import { unusableStartError } from '../core/serviceErrors.ts';
import {
  canReach,
  canSearch,
  isPrivate,
  isWritableOnlyByRoot,
  makeReadable,
  type UnixAccount,
} from './unixAccount.ts';

/** A file in the data directory that names the folder of its data, also after the data directory was moved. */
const NOTE = 'postgres-folder';

/** @throws {StartError} */
export function findOrCreateStorageFolder(dataDir: string, account: UnixAccount): string {
  const real = realpathSync(dataDir);
  const inside = path.join(real, 'postgres');
  const isReachable = grantTraversal(real, account);
  if (isReachable && isPrivate(inside, account)) return inside;
  const note = path.join(real, NOTE);
  const noted = existsSync(note) ? readFileSync(note, 'utf8') : '';
  if (noted !== '') return folderInNote(noted, real, account);
  if (isReachable && isWritableOnlyByRoot(real)) return findOrCreateOwnedFolder(inside, account);
  makeReadable(SYSTEM_STORAGE_FOLDER);
  const folder = findOrCreateOwnedFolder(
    path.join(SYSTEM_STORAGE_FOLDER, randomBytes(8).toString('hex')),
    account,
  );
  writeFileSync(note, folder, { mode: 0o600 });
  recordFolderSource(folder, real);
  return folder;
}

/** Gives a temporary data directory to the account, which removes it at the end. Until then, only root could replace it. */
export function createTemporaryStorage(dataDir: string, account: UnixAccount): string {
  const inside = path.join(dataDir, 'postgres');
  mkdirSync(inside, { mode: 0o700 });
  for (const folder of [inside, dataDir]) lchownSync(folder, account.uid, account.gid);
  return inside;
}

/**
 * Returns the folder that the note names.
 * @throws {StartError} instead of creating empty databases, because the existing ones may be on a disk that isn't mounted now
 */
function folderInNote(folder: string, dataDir: string, account: UnixAccount): string {
  // A copy of a data directory has a note with the folder of the original.
  if (!isPrivate(folder, account) || belongsToOtherDataDirectory(folder, dataDir)) {
    const message =
      `The databases of ${dataDir} are in ${folder}, which is missing or belongs to another data directory. ` +
      `To start with empty databases, delete ${path.join(dataDir, NOTE)}`;
    throw unusableStartError(message);
  }
  if (path.dirname(folder) === SYSTEM_STORAGE_FOLDER) recordFolderSource(folder, dataDir);
  return folder;
}

/** Creates the folder for the account unless it exists. */
function findOrCreateOwnedFolder(folder: string, account: UnixAccount): string {
  if (isPrivate(folder, account)) return folder;
  const parent = path.dirname(folder);
  if (!isWritableOnlyByRoot(parent))
    throw unusableStartError(`${parent} must be a folder that only root can write`);
  // A service that was killed between the next two steps has left the folder. This throws unless it is empty.
  if (lstatSync(folder, { throwIfNoEntry: false })?.uid === 0) rmdirSync(folder);
  mkdirSync(folder, { mode: 0o700 });
  lchownSync(folder, account.uid, account.gid);
  return folder;
}

/** Lets the account pass through the data directory if it can reach it. @returns whether it can */
function grantTraversal(dataDir: string, account: UnixAccount): boolean {
  if (!canReach(dataDir, account)) return false;
  if (canSearch(dataDir, account)) return true;
  const descriptor = openSync(dataDir, constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    const { uid, mode } = fstatSync(descriptor);
    if (uid === 0) {
      fchownSync(descriptor, 0, account.gid);
      fchmodSync(descriptor, (mode & 0o777) | 0o010);
    }
  } finally {
    closeSync(descriptor);
  }
  return canSearch(dataDir, account);
}

export const SYSTEM_STORAGE_FOLDER = '/var/lib/hosted-postgres';

/** Who uses a folder, as it is stored next to the folder. */
interface Owner {
  /** What the folder was made for, which can also be a folder of binaries. */
  readonly dataDirectory: string;
  /** The last service on the folder. */
  readonly service: ProcessIdentity;
}

const ownerRecordPath = (folder: string): string => `${folder}.json`;

/**
 * Records what a folder under `/var/lib/hosted-postgres` was made for, and that this service uses the folder.
 * @param source a data directory or a folder of binaries
 */
export function recordFolderSource(folder: string, source: string): void {
  const owner: Owner = { dataDirectory: source, service: ownIdentity() };
  writeFileSync(ownerRecordPath(folder), JSON.stringify(owner), { mode: 0o600 });
}

/** Whether a folder belongs to another data directory that still exists. */
function belongsToOtherDataDirectory(folder: string, dataDirectory: string): boolean {
  const owner = readOwner(folder)?.dataDirectory;
  return owner !== undefined && owner !== dataDirectory && !isGone(owner);
}

/** Returns the folders in the system's folder whose source was recorded with {@link recordFolderSource}. */
export function recordedFolders(): string[] {
  const names = existsSync(SYSTEM_STORAGE_FOLDER) ? readdirSync(SYSTEM_STORAGE_FOLDER) : [];
  return names
    .filter((name) => name.endsWith('.json'))
    .map((name) => path.join(SYSTEM_STORAGE_FOLDER, name.slice(0, -'.json'.length)));
}

/** Returns the source that {@link recordFolderSource} recorded for the folder, unless the service that did so still runs. */
export function sourceIfUnused(folder: string): string | undefined {
  const owner = readOwner(folder);
  return owner === undefined || isRunningSync(owner.service) ? undefined : owner.dataDirectory;
}

/** Removes a folder with the record of {@link recordFolderSource} about it. */
export function removeWithRecord(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  rmSync(ownerRecordPath(folder), { force: true });
}

/** Whether the file is missing. False also when it cannot be checked. */
function isGone(file: string): boolean {
  try {
    statSync(file);
    return false;
  } catch (error) {
    return systemReason(error) === 'ENOENT';
  }
}

/** Returns undefined for a missing or damaged file. */
function readOwner(folder: string): Owner | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(ownerRecordPath(folder), 'utf8'));
    return isOwner(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whether a file has the fields of a record. Only root can write the file, so its other fields are as {@link recordFolderSource}
 * wrote them.
 */
const isOwner = (value: unknown): value is Owner =>
  typeof value === 'object' &&
  value !== null &&
  'dataDirectory' in value &&
  path.isAbsolute(String(value.dataDirectory)) &&
  'service' in value;
