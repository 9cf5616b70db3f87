/**
 * Finds a place for the engine's data that the server processes can reach. That is a folder of the service's data
 * directory, but for a service that runs as root below a folder closed to others (as /root is, or a folder that
 * `mkdtemp` made): its servers run under another account, so their data lies elsewhere, noted in the data directory.
 */
import { createHash } from 'node:crypto';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync } from 'node:fs';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { isAnothers, isPrivate, markFolder, removeAbandoned } from './abandoned.ts';
import { canReach, canSearch, makePrivateFolder, type Account } from './serverAccount.ts';

const SYSTEM_FOLDER = '/var/lib/hosted-postgres';
const TEMPORARY_PREFIX = 'hosted-postgres-data-';
/** In the data directory: where its data is. */
const NOTE = 'postgres-folder';

/** @param dataDir absolute; made when missing */
export function storageRoot(dataDir: string, account: Account | undefined): string {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  if (account === undefined || isOpenFor(dataDir, account)) return path.join(dataDir, 'postgres');
  const isTemporary = isBelow(dataDir, os.tmpdir());
  const root = isTemporary ? temporaryRoot(dataDir, account) : systemRoot(dataDir, account);
  markFolder(root, dataDir);
  if (isTemporary) removeAbandoned(os.tmpdir(), TEMPORARY_PREFIX, account);
  else removeAbandoned(SYSTEM_FOLDER, '', account);
  return root;
}

const temporaryRoot = (dataDir: string, account: Account): string =>
  notedTemporaryFolder(path.join(dataDir, NOTE), TEMPORARY_PREFIX, account);

/** The note lets a data directory that was moved find its data; in a copy of a data directory it does not count. */
function systemRoot(dataDir: string, account: Account): string {
  mkdirSync(SYSTEM_FOLDER, { recursive: true, mode: 0o755 });
  const note = path.join(dataDir, NOTE);
  const name = createHash('sha256').update(dataDir).digest('hex').slice(0, 10);
  const wanted = existsSync(note) ? readFileSync(note, 'utf8') : path.join(SYSTEM_FOLDER, name);
  const isFree = !existsSync(wanted) || (isPrivate(wanted, account) && !isAnothers(wanted, dataDir));
  const root = isFree ? wanted : mkdtempSync(path.join(SYSTEM_FOLDER, `${name}-`));
  makePrivateFolder(root, account);
  writeFileSync(note, root, { mode: 0o600 });
  return root;
}

/** Lets the account pass through the data directory itself, if the way there is open. */
function isOpenFor(dataDir: string, account: Account): boolean {
  if (!canReach(dataDir, account)) return false;
  const { uid, mode } = statSync(dataDir);
  if (!canSearch(dataDir, account) && uid === 0) {
    chownSync(dataDir, 0, account.gid);
    chmodSync(dataDir, (mode & 0o777) | 0o010);
  }
  return canSearch(dataDir, account);
}

const isBelow = (folder: string, parent: string) => folder.startsWith(path.resolve(parent) + path.sep);

/**
 * A private folder in the temporary folder, the same at every call. Its random name is kept in `note`, for anyone can make
 * a folder of a name that can be foretold.
 */
export function notedTemporaryFolder(note: string, prefix: string, account: Account | undefined): string {
  const noted = existsSync(note) ? readFileSync(note, 'utf8') : undefined;
  // After the temporary folder was cleaned up, the name may be somebody else's.
  if (noted !== undefined && existsSync(noted) && isPrivate(noted, account)) return noted;
  const made = mkdtempSync(path.join(os.tmpdir(), prefix));
  makePrivateFolder(made, account);
  writeFileSync(note, made, { mode: 0o600 });
  return made;
}
