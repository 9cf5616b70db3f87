/**
 * The folder for the service's data when root starts it. Root creates it in a folder that only root can write, gives it to the
 * account that the service becomes, and never touches its contents. It is `postgres` in the data directory. If the account
 * cannot reach that (below /root, for example), it is in the system's folder, and a note in the data directory names it.
 */
import { randomBytes } from 'node:crypto';
import { closeSync, constants, existsSync, fchmodSync, fchownSync, fstatSync, lchownSync } from 'node:fs';
import {
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { notUsable } from '../core/errors.ts';
import {
  canReach,
  canSearch,
  isPrivate,
  isWritableOnlyByRoot,
  makeReadable,
  type UnixAccount,
} from './unixAccount.ts';
import { belongsToOtherDataDirectory, recordOwner, SYSTEM_FOLDER } from './staleStorage.ts';

/** In the data directory: where its data is. It lets a moved data directory find its data. */
const NOTE = 'postgres-folder';

/** @throws {StartError} */
export function storageFolder(dataDir: string, account: UnixAccount): string {
  const real = realpathSync(dataDir);
  const inside = path.join(real, 'postgres');
  const isReachable = grantTraversal(real, account);
  if (isReachable && isPrivate(inside, account)) return inside;
  const note = path.join(real, NOTE);
  const noted = existsSync(note) ? readFileSync(note, 'utf8') : '';
  if (noted !== '') return notedFolder(noted, real, account);
  if (isReachable && isWritableOnlyByRoot(real)) return ownedFolder(inside, account);
  makeReadable(SYSTEM_FOLDER);
  const folder = ownedFolder(path.join(SYSTEM_FOLDER, randomBytes(8).toString('hex')), account);
  writeFileSync(note, folder, { mode: 0o600 });
  recordOwner(folder, real);
  return folder;
}

/** Gives the account a temporary data directory, which it removes at the end. Only root could replace it until now. */
export function temporaryStorage(dataDir: string, account: UnixAccount): string {
  const inside = path.join(dataDir, 'postgres');
  mkdirSync(inside, { mode: 0o700 });
  for (const folder of [inside, dataDir]) lchownSync(folder, account.uid, account.gid);
  return inside;
}

/** Throws rather than replacing databases with empty ones: they may be on a disk that is not mounted now. */
function notedFolder(folder: string, dataDir: string, account: UnixAccount): string {
  // A copy of a data directory has a note with the folder of the original.
  if (!isPrivate(folder, account) || belongsToOtherDataDirectory(folder, dataDir)) {
    const message =
      `The databases of ${dataDir} are in ${folder}, which is missing or belongs to another data directory. ` +
      `To start with empty databases, delete ${path.join(dataDir, NOTE)}`;
    throw notUsable(message);
  }
  if (path.dirname(folder) === SYSTEM_FOLDER) recordOwner(folder, dataDir);
  return folder;
}

/** Creates the folder for the account unless it exists. */
function ownedFolder(folder: string, account: UnixAccount): string {
  if (isPrivate(folder, account)) return folder;
  const parent = path.dirname(folder);
  if (!isWritableOnlyByRoot(parent)) throw notUsable(`${parent} must be a folder that only root can write`);
  // Left by a service that was killed between the next two steps. Throws unless it is empty.
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
