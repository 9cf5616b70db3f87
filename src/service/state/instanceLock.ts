/**
 * Only one service may use a data directory. `service.lock` names its process by pid and start time, and `service.json` has its
 * address.
 *
 * The service also has a lock of the system on `instance.lock`, which ends with its process, even in another container on this
 * machine. If the system has no such locks, or another machine has the folder open, `service.lock` decides. It names the machine
 * of its service, which writes the file again every ten seconds. The file counts as abandoned only if this process has watched it
 * for longer than that, so the clocks of the machines don't matter. A service that was suspended for so long notices before its
 * next write that the lock isn't its own any more.
 */
import {
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pause, type Clock } from '../../base/clock.ts';
import { fieldsOf } from '../../base/fieldsOf.ts';
import { isRunningSync, ownIdentity, type ProcessIdentity } from '../../base/processIdentity.ts';
import { createFileSync, renameOverSync } from '../../base/replaceFile.ts';
import { lockFile } from '../core/systemLock.ts';
import { systemReason } from '../../base/systemReason.ts';
import { unusableStartError, StartError } from '../core/serviceErrors.ts';
import { callEvery } from '../core/serviceClock.ts';
import { TEMPORARY_PREFIX } from './dataDirectory.ts';

const LOCK = 'service.lock';

interface InstanceLock {
  /** Writes the address, the secret by which this service and its clients recognize each other, and the version. */
  publish(baseUrl: string, leaseSecret: string, version?: string): void;
  /** Call it before each write. @throws {StartError} if another service has the lock now */
  requireHeld(): void;
  /** Notes in the lock that this service is ending, so that it isn't killed as one that hangs. */
  noteEnding(): void;
  release(): void;
}

interface LockOptions {
  readonly clock: Clock;
  readonly log: (line: string) => void;
  /** Called once if another service has the lock now, so this one must not write any more. */
  readonly onLost: (error: StartError) => void;
}

interface LockOwner extends ProcessIdentity {
  /** The machine's name. Earlier versions wrote none. */
  readonly host?: string | undefined;
  /** Whether the owner has the lock of the system, too. */
  readonly isLockedBySystem?: boolean | undefined;
}

/** Milliseconds between two renewals of the lock. */
const RENEWAL_INTERVAL = 10_000;
/** Milliseconds for which the lock of another machine's service is watched before it counts as abandoned. */
const WATCH_TIME = 30_000;
const WATCH_INTERVAL = 500;

/**
 * Takes the lock of a data directory. `service.lock` and `service.json` are opened now, because a service that root started can't
 * open them later.
 * @throws {StartError} `alreadyRunning`, or `notUsable` if a file can't be written
 */
export async function lockInstance(folder: string, options: LockOptions): Promise<InstanceLock> {
  const lockPath = path.join(folder, LOCK);
  const infoPath = path.join(folder, 'service.json');
  const systemLock = await lockFile(path.join(folder, 'instance.lock'));
  const isLockedBySystem = typeof systemLock === 'number';
  const me = { ...ownIdentity(), host: os.hostname(), isLockedBySystem };
  const owner =
    systemLock === 'held' ? (readOwner(lockPath) ?? me) : await takeLockIfFree(lockPath, me, options);
  if (owner !== undefined) throw alreadyRunning(folder, infoPath, owner);
  rmSync(infoPath, { force: true });
  const infoDescriptor = attemptWrite(infoPath, () => openSync(infoPath, 'wx', 0o600));
  const lockDescriptor = attemptWrite(lockPath, () => openSync(lockPath, 'r+'));
  const lost = unusableStartError(`Another service uses ${folder} now, so this one ends.`);
  const isHeld = () => isSameFile(lockDescriptor, lockPath);
  const stopRenewal = callEvery(options.clock, RENEWAL_INTERVAL, () => {
    if (isHeld()) return renewLock(lockDescriptor, me);
    stopRenewal();
    options.onLost(lost);
  });
  return {
    publish(baseUrl, leaseSecret, version) {
      const startedAt = new Date(me.startedAt * 1000).toISOString();
      const text = JSON.stringify({ baseUrl, pid: me.pid, startedAt, leaseSecret, version });
      attemptWrite(infoPath, () => writeSync(infoDescriptor, text));
    },
    requireHeld() {
      if (isHeld()) return;
      options.onLost(lost);
      throw lost;
    },
    noteEnding: () => renewLock(lockDescriptor, Object.assign(me, { isEnding: true })),
    release() {
      stopRenewal();
      if (isHeld()) {
        removeOrEmpty(infoPath, infoDescriptor);
        removeOrEmpty(lockPath, lockDescriptor);
      }
      if (isLockedBySystem) closeSync(systemLock);
    },
  };
}

/**
 * Whether the open file is still the one at this path. A service that replaces a lock renames a new file over it. A service that
 * root started may be unable to enter the folder later, but sees that its own file has no name any more.
 */
function isSameFile(descriptor: number, file: string): boolean {
  const mine = fstatSync(descriptor);
  try {
    const current = statSync(file, { throwIfNoEntry: false });
    return mine.ino === current?.ino && mine.dev === current.dev;
  } catch (error) {
    if (systemReason(error) !== 'EACCES') throw error;
    return mine.nlink > 0;
  }
}

/** Turns an error of `write` into one that names the file. @throws {StartError} */
function attemptWrite<T>(file: string, write: () => T): T {
  try {
    return write();
  } catch (error) {
    throw unusableStartError(`Cannot write ${file}: ${systemReason(error)}`);
  }
}

/** Removes a file. A service that root started can't remove root's files, so it empties them. An empty lock counts as stale. */
function removeOrEmpty(file: string, descriptor: number): void {
  try {
    rmSync(file, { force: true });
  } catch {
    ftruncateSync(descriptor);
  }
  closeSync(descriptor);
}

/**
 * Updates the modification time by writing the same text. Only the file's owner can set it directly: root, whose rights the
 * service that it started has given up.
 */
function renewLock(lockDescriptor: number, me: LockOwner): void {
  try {
    writeSync(lockDescriptor, JSON.stringify(me), 0);
  } catch {
    // A network file system may be unavailable for a moment.
  }
}

const isOfOtherMachine = ({ host }: LockOwner): boolean => host !== undefined && host !== os.hostname();

/** Whether the lock of the system, which this process has, proves that the owner of `service.lock` has ended. */
function isEndProvenByLock(owner: LockOwner, me: LockOwner): boolean {
  if (owner.isLockedBySystem !== true || me.isLockedBySystem !== true) return false;
  // A container has another host name than its machine. On Linux, the second part of a unique id stands for the machine's
  // last start, and is the same in its containers.
  const [theirs, ours] = [owner, me].map(({ uniqueId }) => uniqueId?.split(' ')[1]);
  return theirs === undefined ? !isOfOtherMachine(owner) : theirs === ours;
}

/** The most attempts to take the lock: far more than the processes that start at the same moment. */
const MAX_ATTEMPTS = 1000;

/**
 * Takes the lock, or watches it first if it is of another machine.
 * @returns the process that has the lock; undefined if this process has it now
 */
async function takeLockIfFree(
  lock: string,
  me: LockOwner,
  { clock, log }: LockOptions,
): Promise<LockOwner | undefined> {
  const owner = readOwner(lock);
  if (owner === undefined || !isOfOtherMachine(owner) || isEndProvenByLock(owner, me))
    return takeLock(lock, me);
  log(`Waiting ${WATCH_TIME / 1000} s, to see whether a service still runs on the machine ${owner.host}.`);
  const seen = readRenewal(lock);
  for (let waited = 0; waited < WATCH_TIME; waited += WATCH_INTERVAL) {
    await pause(WATCH_INTERVAL, clock);
    if (readRenewal(lock) !== seen) return readOwner(lock) ?? takeLock(lock, me);
  }
  return takeLock(lock, me, owner);
}

/** Returns a text that changes when the lock is renewed or replaced. Opening the file makes a network file system ask its server. */
function readRenewal(lock: string): string | undefined {
  try {
    const descriptor = openSync(lock, 'r');
    const { ino, mtimeMs, size } = fstatSync(descriptor);
    closeSync(descriptor);
    return `${ino} ${mtimeMs} ${size}`;
  } catch {
    return undefined;
  }
}

/**
 * Takes the lock unless a running process has it. A stale lock is replaced under a second lock, `<lock>.after-<pid of the dead
 * owner>`, which is taken in the same way (recursively). The process that has the second lock renames it over the stale one.
 * @param abandoned an owner on another machine that doesn't renew the lock
 * @returns the running process that has the lock; undefined if this process has it now
 */
function takeLock(lock: string, me: LockOwner, abandoned?: LockOwner): LockOwner | undefined {
  for (let count = 0; count < MAX_ATTEMPTS; count += 1) {
    if (attemptWrite(lock, () => createFileSync(lock, JSON.stringify(me)))) return undefined;
    const owner = readOwner(lock);
    if (owner === undefined) continue; // The owner has just released it.
    if (mayBeRunning(owner, me, abandoned)) return owner;
    const replacement = `${lock}.after-${owner.pid}`;
    const successor = takeLock(replacement, me, abandoned);
    if (successor !== undefined) return successor;
    if (isSameIdentity(readOwner(lock), owner)) {
      // On Windows, renaming fails if the owner still has the lock open.
      attemptWrite(lock, () => renameOverSync(replacement, lock));
      return undefined;
    }
    rmSync(replacement, { force: true }); // Another process has replaced it in the meantime.
  }
  throw unusableStartError(`Cannot use ${lock}: it is not readable or keeps changing`);
}

function mayBeRunning(owner: LockOwner, me: LockOwner, abandoned: LockOwner | undefined): boolean {
  if (isEndProvenByLock(owner, me)) return false;
  return isOfOtherMachine(owner) ? !isSameIdentity(abandoned, owner) : isRunningSync(owner);
}

const isSameIdentity = (a: ProcessIdentity | undefined, b: ProcessIdentity): boolean =>
  a?.pid === b.pid && a.startedAt === b.startedAt && a.uniqueId === b.uniqueId;

/** Returns undefined if the file is missing, and an owner that counts as ended if the file is not valid. */
function readOwner(file: string): LockOwner | undefined {
  const owner = readJsonFile(file);
  if (owner === undefined && !existsSync(file)) return undefined;
  const { pid, startedAt, uniqueId, host, isLockedBySystem } = fieldsOf(owner);
  const textOrUndefined = (value: unknown) => (typeof value === 'string' ? value : undefined);
  return {
    pid: Number(pid ?? 0),
    startedAt: Number(startedAt ?? 0),
    uniqueId: textOrUndefined(uniqueId),
    host: textOrUndefined(host),
    isLockedBySystem: isLockedBySystem === true,
  };
}

function alreadyRunning(folder: string, info: string, owner: LockOwner): StartError {
  const { pid, host } = owner;
  const { pid: published, baseUrl } = fieldsOf(readJsonFile(info));
  const where = isOfOtherMachine(owner)
    ? `on the machine ${host}`
    : published === pid
      ? `at ${String(baseUrl)} (process ${pid})`
      : `as process ${pid}, which is still starting`;
  return new StartError('alreadyRunning', `A service is already running on ${folder}, ${where}.`);
}

/** Returns undefined if the file is missing or damaged. */
const readJsonFile = (file: string): unknown =>
  undefinedOnError((): unknown => JSON.parse(readFileSync(file, 'utf8')));

/** Returns the temporary directories of this user whose service was killed. */
export function findAbandonedDirectories(uid: number | undefined): string[] {
  const parent = os.tmpdir();
  const names = undefinedOnError(() => readdirSync(parent)) ?? [];
  return names
    .filter((name) => name.startsWith(TEMPORARY_PREFIX))
    .map((name) => path.join(parent, name))
    .filter((folder) => undefinedOnError(() => isAbandoned(folder, uid)) === true);
}

/**
 * Whether the folder is a temporary directory of this user whose service was killed.
 * @throws if the directory or its lock is missing, for example because it is just being removed
 */
function isAbandoned(folder: string, uid: number | undefined): boolean {
  const stat = lstatSync(folder);
  if (!stat.isDirectory() || (uid !== undefined && stat.uid !== uid)) return false;
  const lock = path.join(folder, LOCK);
  if (!lstatSync(lock).isFile()) return false;
  const owner = readOwner(lock);
  return owner !== undefined && !isOfOtherMachine(owner) && !isRunningSync(owner);
}

function undefinedOnError<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
