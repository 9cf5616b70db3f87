/**
 * A service that root starts becomes `nobody`, because Postgres refuses to run as root. It first does what only root can,
 * and then gives up root's rights for good, before it reads a file that another user can write. All its code must be loaded
 * by then, because it may be in a folder that only root can read.
 */
import {
  closeSync,
  existsSync,
  fstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statSync,
} from 'node:fs';
import nodeModule from 'node:module';
import os from 'node:os';
import { canReach, type UnixAccount } from './unixAccount.ts';

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
