/**
 * The directory with all data of the service: created if missing, private, and locked, since only one service may use it.
 * `service.lock` names the service's process by pid and start time. `service.json` has its address.
 *
 * Machines or containers that don't see each other's processes may share the directory. So the lock names its machine, and
 * the service keeps renewing the file's modification time.
 */
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fieldsOf } from '../../base/fieldsOf.ts';
import { isRunningSync, ownIdentity, type ProcessIdentity } from '../../base/processIdentity.ts';
import { createFileSync, renameOverSync } from '../../base/replaceFile.ts';
import { notUsable, StartError, systemReason } from '../core/errors.ts';

export interface DataDirectory {
  readonly folder: string;
  readonly isTemporary: boolean;
}

/** How the names of temporary directories begin. */
const TEMPORARY = 'hosted-postgres-temporary-';

/**
 * @param dataDir undefined: a temporary directory, which is deleted when the process exits
 * @throws {StartError} if it cannot be created or written
 */
export function openDataDirectory(dataDir: string | undefined): DataDirectory {
  if (dataDir === undefined) {
    const folder = createTemporaryFolder();
    process.once('exit', () => removeTemporaryDirectory(folder));
    return { folder, isTemporary: true };
  }
  return { folder: createUsableFolder(path.resolve(dataDir)), isTemporary: false };
}

/** @throws {StartError} */
function createTemporaryFolder(): string {
  const parent = os.tmpdir();
  try {
    return mkdtempSync(path.join(parent, TEMPORARY));
  } catch (error) {
    throw notUsable(`Cannot create a temporary folder in ${parent} (TMPDIR): ${systemReason(error)}`);
  }
}

/** Postgres uses at most 259 characters, and its longest path in the folder has up to 119. */
const MAX_WINDOWS_PATH = 140;

/** Creates it with its parents unless it exists. @throws {StartError} if it cannot be created or written */
export function createUsableFolder(folder: string): string {
  if (process.platform === 'win32' && folder.length > MAX_WINDOWS_PATH)
    throw notUsable(
      `Cannot use the data directory ${folder}: Postgres on Windows needs a path of at most ${MAX_WINDOWS_PATH} characters. Choose another folder.`,
    );
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    return folder;
  } catch (error) {
    throw notUsable(`Cannot use the data directory ${folder}: ${systemReason(reasonOf(folder) ?? error)}`);
  }
}

/** Node reports a read-only file system as ENOENT if it creates several folders. */
function reasonOf(folder: string): unknown {
  const parent = path.dirname(folder);
  if (!existsSync(parent) && parent !== folder) return reasonOf(parent);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    return fieldsOf(error)['code'] === 'EROFS' ? error : undefined;
  }
  return undefined;
}

export function removeTemporaryDirectory(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  } catch {
    // The system cleans up its temporary folder.
  }
}

/** @returns the temporary directories of this user whose service was killed */
export function abandonedDirectories(uid: number | undefined): string[] {
  const parent = os.tmpdir();
  const names = ignoringErrors(() => readdirSync(parent)) ?? [];
  return names
    .filter((name) => name.startsWith(TEMPORARY))
    .map((name) => path.join(parent, name))
    .filter((folder) => ignoringErrors(() => isAbandoned(folder, uid)) === true);
}

/** The folder for temporary files is shared: users may not read each other's directories, which come and go at any time. */
function isAbandoned(folder: string, uid: number | undefined): boolean {
  const stat = lstatSync(folder);
  if (!stat.isDirectory() || (uid !== undefined && stat.uid !== uid)) return false;
  const lock = path.join(folder, LOCK);
  if (!lstatSync(lock).isFile()) return false;
  const owner = readOwner(lock);
  return owner !== undefined && !mayBeRunning(owner, lock);
}

function ignoringErrors<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

const LOCK = 'service.lock';

interface InstanceLock {
  /** Writes the address, and the secret by which this service and its clients recognize each other. */
  publish(baseUrl: string, leaseSecret: string): void;
  release(): void;
}

/** Opens both files at once: a service that root started can't open them later. @throws {StartError} `alreadyRunning` */
export function lockInstance(folder: string): InstanceLock {
  const lockPath = path.join(folder, LOCK);
  const infoPath = path.join(folder, 'service.json');
  const me = { ...ownIdentity(), host: os.hostname() };
  const owner = takeLock(lockPath, me);
  if (owner !== undefined) throw alreadyRunning(folder, infoPath, owner);
  rmSync(infoPath, { force: true });
  const infoDescriptor = attempt(infoPath, () => openSync(infoPath, 'wx', 0o600));
  const lockDescriptor = attempt(lockPath, () => openSync(lockPath, 'r+'));
  const renewal = setInterval(() => renew(lockDescriptor, me), RENEWAL_INTERVAL).unref();
  return {
    publish(baseUrl, leaseSecret) {
      const startedAt = new Date(me.startedAt * 1000).toISOString();
      const text = JSON.stringify({ baseUrl, pid: me.pid, startedAt, leaseSecret });
      attempt(infoPath, () => writeSync(infoDescriptor, text));
    },
    release() {
      clearInterval(renewal);
      remove(infoPath, infoDescriptor);
      remove(lockPath, lockDescriptor);
    },
  };
}

/** @throws {StartError} */
function attempt<T>(file: string, write: () => T): T {
  try {
    return write();
  } catch (error) {
    throw notUsable(`Cannot write ${file}: ${systemReason(error)}`);
  }
}

/** A service that root started can't remove root's files, so it empties them. An empty lock counts as stale. */
function remove(file: string, descriptor: number): void {
  try {
    rmSync(file, { force: true });
  } catch {
    ftruncateSync(descriptor);
  }
  closeSync(descriptor);
}

interface LockOwner extends ProcessIdentity {
  /** The machine's name. Earlier versions wrote none. */
  readonly host?: string | undefined;
}

/** Milliseconds. */
const RENEWAL_INTERVAL = 10_000;
/** Milliseconds after which the lock of another machine's service counts as abandoned. */
const FOREIGN_LOCK_LIMIT = 60_000;

/** Updates the modification time by writing the same text, because only the file's owner (root) can set it directly. */
function renew(lockFile: number, me: LockOwner): void {
  try {
    writeSync(lockFile, JSON.stringify(me), 0);
  } catch {
    // A network file system may be unavailable for a moment.
  }
}

const isForeign = ({ host }: LockOwner): boolean => host !== undefined && host !== os.hostname();

function mayBeRunning(owner: LockOwner, lock: string): boolean {
  if (!isForeign(owner)) return isRunningSync(owner);
  const age = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? 0);
  return age < FOREIGN_LOCK_LIMIT;
}

/** Far more than the processes that start at the same moment. */
const MAX_ATTEMPTS = 1000;

/**
 * Returns the running process that has the lock; undefined if this process has it now. A stale lock is replaced under a
 * second lock, `<lock>.after-<pid of the dead owner>`, which is taken in the same way (recursively). Its holder renames it
 * over the stale lock.
 */
function takeLock(lock: string, me: LockOwner): LockOwner | undefined {
  for (let count = 0; count < MAX_ATTEMPTS; count += 1) {
    if (attempt(lock, () => createFileSync(lock, JSON.stringify(me)))) return undefined;
    const owner = readOwner(lock);
    if (owner === undefined) continue; // Just released.
    if (mayBeRunning(owner, lock)) return owner;
    const replacement = `${lock}.after-${owner.pid}`;
    const successor = takeLock(replacement, me);
    if (successor !== undefined) return successor;
    if (isSame(readOwner(lock), owner)) {
      renameOverSync(replacement, lock);
      return undefined;
    }
    rmSync(replacement, { force: true }); // Another process has replaced it in the meantime.
  }
  throw notUsable(`Cannot use ${lock}: it is not readable or keeps changing`);
}

const isSame = (a: ProcessIdentity | undefined, b: ProcessIdentity): boolean =>
  a?.pid === b.pid && a.startedAt === b.startedAt && a.uniqueId === b.uniqueId;

/** Returns undefined if the file is missing, and an owner that counts as ended if the file is not valid. */
function readOwner(file: string): LockOwner | undefined {
  const owner = readJsonFile(file);
  if (owner === undefined && !existsSync(file)) return undefined;
  const { pid, startedAt, uniqueId, host } = fieldsOf(owner);
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
  return {
    pid: Number(pid ?? 0),
    startedAt: Number(startedAt ?? 0),
    uniqueId: text(uniqueId),
    host: text(host),
  };
}

function alreadyRunning(folder: string, info: string, owner: LockOwner): StartError {
  const { pid, host } = owner;
  const { pid: published, baseUrl } = fieldsOf(readJsonFile(info));
  const where = isForeign(owner)
    ? `on the machine ${host}. If that has ended, try again in a minute`
    : published === pid
      ? `at ${String(baseUrl)} (process ${pid})`
      : `as process ${pid}, which is still starting`;
  return new StartError('alreadyRunning', `A service is already running on ${folder}, ${where}.`);
}

/** Returns undefined if the file is missing or damaged. */
const readJsonFile = (file: string): unknown =>
  ignoringErrors((): unknown => JSON.parse(readFileSync(file, 'utf8')));
