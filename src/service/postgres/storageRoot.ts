/**
 * Finds a place for the engine's data that the server processes can reach. That is a folder of the service's data
 * directory, but for a service that runs as root below a folder closed to others (as /root is, or a folder that
 * `mkdtemp` made): its servers run under another account, so their data lies elsewhere, noted in the data directory.
 */
import { createHash } from 'node:crypto';
import { chmodSync, chownSync, existsSync, lstatSync, mkdirSync, mkdtempSync } from 'node:fs';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { canReach, canSearch, makePrivateFolder, type Account } from './serverAccount.ts';

const SYSTEM_FOLDER = '/var/lib/hosted-postgres';
const TEMPORARY_PREFIX = 'hosted-postgres-data-';
/** In a temporary place: the data directory it belongs to. */
const OWNER_FILE = 'data-directory';

/** @param dataDir absolute; made when missing */
export function storageRoot(dataDir: string, account: Account | undefined): string {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  if (account === undefined || isOpenFor(dataDir, account)) return path.join(dataDir, 'postgres');
  if (!isBelow(dataDir, os.tmpdir())) {
    mkdirSync(SYSTEM_FOLDER, { recursive: true, mode: 0o755 });
    return path.join(SYSTEM_FOLDER, createHash('sha256').update(dataDir).digest('hex').slice(0, 10));
  }
  removeAbandoned();
  const root = notedTemporaryFolder(path.join(dataDir, 'postgres-folder'), TEMPORARY_PREFIX, account);
  writeFileSync(path.join(root, OWNER_FILE), dataDir, { mode: 0o600 });
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

/** Temporary data outlives its data directory only until the next service starts. */
function removeAbandoned(): void {
  for (const name of readdirSync(os.tmpdir()).filter((entry) => entry.startsWith(TEMPORARY_PREFIX))) {
    const folder = path.join(os.tmpdir(), name);
    const owner = path.join(folder, OWNER_FILE);
    if (existsSync(owner) && !existsSync(readFileSync(owner, 'utf8')))
      rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * A private folder in the temporary folder, the same at every call. Its random name is kept in `note`, for anyone can make
 * a folder of a name that can be foretold.
 */
export function notedTemporaryFolder(note: string, prefix: string, account: Account | undefined): string {
  const noted = existsSync(note) ? readFileSync(note, 'utf8') : undefined;
  if (noted !== undefined && existsSync(noted) && isOurs(noted, account)) return noted;
  const made = mkdtempSync(path.join(os.tmpdir(), prefix));
  makePrivateFolder(made, account);
  writeFileSync(note, made, { mode: 0o600 });
  return made;
}

/** After the temporary folder was cleaned up, the name may be somebody else's. */
function isOurs(folder: string, account: Account | undefined): boolean {
  const stat = lstatSync(folder);
  return (
    stat.isDirectory() &&
    stat.uid === (account?.uid ?? process.getuid?.() ?? stat.uid) &&
    (stat.mode & 0o077) === 0
  );
}
