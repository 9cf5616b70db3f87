/**
 * The folder for the engine's data when the service runs as root. Root creates it in a folder that only root can write, gives
 * it to the engine's account, and never touches its contents. It is `postgres` in the data directory. If the account cannot
 * reach that (below /root, for example), it is in the system's folder, and a note in the data directory names it.
 */
import { createHash, randomBytes } from 'node:crypto';
import { closeSync, constants, existsSync, fchmodSync, fchownSync, fstatSync, lstatSync } from 'node:fs';
import { mkdirSync, openSync, readFileSync, realpathSync, rmdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { EngineError } from '../core/computeEngine.ts';
import { canReach, canSearch, isPrivate, isRootsAlone, type Account } from './account.ts';
import { isAnothers, register, SYSTEM_FOLDER } from './storageRegistry.ts';

/** In the data directory: where its data is. */
const NOTE = 'postgres-folder';

/** @param dataDir made when missing @throws {EngineError} */
export function storageFolder(dataDir: string, account: Account): string {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const real = realpathSync(dataDir);
  const inside = path.join(real, 'postgres');
  if (isOpenFor(real, account) && (isPrivate(inside, account) || isRootsAlone(real)))
    return ownedFolder(inside, account);
  mkdirSync(SYSTEM_FOLDER, { recursive: true, mode: 0o755 });
  const folder = ownedFolder(systemFolder(real, account), account);
  writeFileSync(path.join(real, NOTE), folder, { mode: 0o600 });
  register(folder, real);
  return folder;
}

/** The note lets a moved data directory find its data. In a copy of a data directory it is ignored. */
function systemFolder(dataDir: string, account: Account): string {
  const note = path.join(dataDir, NOTE);
  const name = createHash('sha256').update(dataDir).digest('hex').slice(0, 10);
  const wanted = existsSync(note) ? readFileSync(note, 'utf8') : path.join(SYSTEM_FOLDER, name);
  if (isPrivate(wanted, account) && !isAnothers(wanted, dataDir)) return wanted;
  const isFree = path.dirname(wanted) === SYSTEM_FOLDER && !existsSync(wanted);
  return isFree ? wanted : path.join(SYSTEM_FOLDER, `${name}-${randomBytes(4).toString('hex')}`);
}

/** Creates the folder for the account unless it exists. */
function ownedFolder(folder: string, account: Account): string {
  if (isPrivate(folder, account)) return folder;
  const parent = path.dirname(folder);
  if (!isRootsAlone(parent)) throw new EngineError(`${parent} must be a folder that only root can write`);
  // Left by a service that was killed between the next two steps. Throws unless it is empty.
  if (lstatSync(folder, { throwIfNoEntry: false })?.uid === 0) rmdirSync(folder);
  mkdirSync(folder, { mode: 0o700 });
  withFolder(folder, (descriptor) => fchownSync(descriptor, account.uid, account.gid));
  return folder;
}

/** Lets the account pass through the data directory if it can reach it. @returns whether it can */
function isOpenFor(dataDir: string, account: Account): boolean {
  if (!canReach(dataDir, account)) return false;
  if (!canSearch(dataDir, account)) {
    withFolder(dataDir, (descriptor) => {
      const { uid, mode } = fstatSync(descriptor);
      if (uid !== 0) return;
      fchownSync(descriptor, 0, account.gid);
      fchmodSync(descriptor, (mode & 0o777) | 0o010);
    });
  }
  return canSearch(dataDir, account);
}

/** Opens the folder, so that `work` checks and changes the same one. */
function withFolder(folder: string, work: (descriptor: number) => void): void {
  const descriptor = openSync(folder, constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    work(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
