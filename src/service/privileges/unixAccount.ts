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

/** What the service becomes. */
export interface UnixAccount {
  readonly uid: number;
  readonly gid: number;
}

export function nobody(): UnixAccount {
  const [, uid, gid] = /^nobody:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8')) ?? [];
  if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  // macOS and some directory services: not in the file, or with a negative number.
  const id = (flag: string) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
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

/** Whether it is a folder that only the account and root can use. */
export function isPrivate(folder: string, account: UnixAccount): boolean {
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  return stat?.isDirectory() === true && stat.uid === account.uid && (stat.mode & 0o077) === 0;
}

/** Whether it is a folder that only root can write, so that other users cannot replace its entries. */
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
 * Call it first: closes the files that this process inherited, and leaves a temporary folder that the account can't use.
 */
export function leaveEnvironment(account: UnixAccount): void {
  if (process.platform === 'linux') closeInherited();
  const folder = os.tmpdir();
  const isUsable = canReach(folder, account) && (statSync(folder).mode & 0o003) === 0o003;
  if (!isUsable) delete process.env['TMPDIR'];
}

/** @throws when root's rights could not be given up */
export function giveUpRoot({ uid, gid }: UnixAccount): void {
  // Node writes it at the exit, which is too late.
  nodeModule.flushCompileCache?.();
  process.chdir('/');
  process.setgroups?.([]);
  process.setgid?.(gid);
  process.setuid?.(uid);
  if (process.getuid?.() !== uid || process.getgid?.() !== gid) throw new Error(`Could not become ${uid}`);
}

/** On other systems, the programs that the service starts don't inherit them. */
function closeInherited(): void {
  for (const descriptor of readdirSync('/proc/self/fd').map(Number))
    if (descriptor > STDERR && isInherited(descriptor)) closeSync(descriptor);
}

const STDERR = 2;
const O_CLOEXEC = 0o2000000;

/**
 * Node opens its own descriptors with O_CLOEXEC, and none of them is a file. It also sets this flag for those below 16 that
 * it inherited. Electron has open files.
 */
function isInherited(descriptor: number): boolean {
  try {
    // At its start, Node reads this file in another thread, which closes it.
    const certificates = process.env['NODE_EXTRA_CA_CERTS'];
    if (certificates !== undefined && isOpenAt(descriptor, certificates)) return false;
    const info = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8');
    const flags = Number.parseInt(/^flags:\s*([0-7]+)/m.exec(info)?.[1] ?? '', 8);
    if ((flags & O_CLOEXEC) === 0) return true;
    const stat = fstatSync(descriptor);
    return process.versions['electron'] === undefined && (stat.isFile() || stat.isDirectory());
  } catch {
    return false; // The folder that was just listed.
  }
}

const isOpenAt = (descriptor: number, file: string): boolean =>
  existsSync(file) && readlinkSync(`/proc/self/fd/${descriptor}`) === realpathSync(file);
