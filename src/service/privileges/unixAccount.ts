/**
 * A service that root starts becomes `nobody`, because Postgres refuses to run as root. It first does what only root can,
 * and then gives up root's rights for good, before it reads a file that another user can write. All its code must be loaded
 * by then, because it may be in a folder that only root can read.
 */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statSync,
} from 'node:fs';
import nodeModule from 'node:module';
import os from 'node:os';
import path from 'node:path';

/** The account that the service runs as after it has given up the rights of root. */
export interface UnixAccount {
  readonly uid: number;
  readonly gid: number;
}

/** Returns the ids of the user `nobody`. */
export function findNobody(): UnixAccount {
  const [, uid, gid] = /^nobody:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8')) ?? [];
  if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  // On macOS and with some directory services, the account isn't in the file, or has a negative number.
  const idOfNobody = (flag: string) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
  return { uid: idOfNobody('-u'), gid: idOfNobody('-g') };
}

/** Whether the account can go through every folder above `file`. */
export function canReach(file: string, account: UnixAccount): boolean {
  const parent = path.dirname(file);
  return (parent === file || canReach(parent, account)) && canSearch(parent, account);
}

export function canSearch(folder: string, account: UnixAccount): boolean {
  const { uid, gid, mode } = statSync(folder);
  if (uid === account.uid) return (mode & 0o100) !== 0;
  return (mode & (gid === account.gid ? 0o010 : 0o001)) !== 0;
}

/** Whether the path is a folder that only the account and root can use. */
export function isPrivate(folder: string, account: UnixAccount): boolean {
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  return stat?.isDirectory() === true && stat.uid === account.uid && (stat.mode & 0o077) === 0;
}

/** Whether the path is a folder that only root can write, so that other users cannot replace its entries. */
export function isWritableOnlyByRoot(folder: string): boolean {
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  return stat?.isDirectory() === true && stat.uid === 0 && (stat.mode & 0o022) === 0;
}

/** Creates a folder of root that every user can read with any umask. One that exists gets the same mode. */
export function makeReadable(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  if (isWritableOnlyByRoot(folder)) chmodSync(folder, 0o755);
}

/**
 * Closes the files that this process inherited, and unsets TMPDIR if the account can't use that folder. Call it first.
 */
export function dropInheritedEnvironment(account: UnixAccount): void {
  if (process.platform === 'linux') closeInheritedFiles();
  const folder = os.tmpdir();
  const isUsable = canReach(folder, account) && (statSync(folder).mode & 0o003) === 0o003;
  if (!isUsable) delete process.env['TMPDIR'];
}

/** @throws when root's rights could not be given up */
export function giveUpRoot({ uid, gid }: UnixAccount): void {
  // Node would write the cache at exit, when the account can no longer do so.
  nodeModule.flushCompileCache?.();
  process.chdir('/');
  process.setgroups?.([]);
  process.setgid?.(gid);
  process.setuid?.(uid);
  if (process.getuid?.() !== uid || process.getgid?.() !== gid) throw new Error(`Could not become ${uid}`);
}

/**
 * Closes the files that this process inherited. Only Linux needs this: on other systems, programs that the service starts don't
 * inherit them.
 */
function closeInheritedFiles(): void {
  for (const descriptor of readdirSync('/proc/self/fd').map(Number))
    if (descriptor > STDERR && isInherited(descriptor)) closeSync(descriptor);
}

const STDERR = 2;
const O_CLOEXEC = 0o2000000;

/**
 * Whether a descriptor was inherited. One without O_CLOEXEC was, because Node sets the flag on all that it opens. One with the
 * flag was if it is a file or folder: Node also sets the flag on inherited descriptors below 16, and keeps no files open itself,
 * except in Electron.
 */
function isInherited(descriptor: number): boolean {
  try {
    // Node may still be reading this file in another thread, which closes it.
    const certificates = process.env['NODE_EXTRA_CA_CERTS'];
    if (certificates !== undefined && isOpenAt(descriptor, certificates)) return false;
    const info = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8');
    const flags = Number.parseInt(/^flags:\s*([0-7]+)/m.exec(info)?.[1] ?? '', 8);
    if ((flags & O_CLOEXEC) === 0) return true;
    const stat = fstatSync(descriptor);
    return process.versions['electron'] === undefined && (stat.isFile() || stat.isDirectory());
  } catch {
    return false; // This descriptor listed /proc/self/fd itself, and is already closed.
  }
}

const isOpenAt = (descriptor: number, file: string): boolean =>
  existsSync(file) && readlinkSync(`/proc/self/fd/${descriptor}`) === realpathSync(file);
