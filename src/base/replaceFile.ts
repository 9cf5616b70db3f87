import { randomUUID } from 'node:crypto';
import {
  constants,
  existsSync,
  linkSync,
  mkdirSync,
  renameSync,
  rmSync,
  writeFileSync,
  type Stats,
} from 'node:fs';
import { open, rm, stat, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { pause } from './clock.ts';
import { fieldsOf } from './fieldsOf.ts';

interface ReplaceOptions {
  /** Permissions of a new file. An existing file keeps its permissions and, if this process is root, its owner. */
  readonly mode?: number | undefined;
  /** The file's name until it is complete. A killed process leaves it behind, and the next one overwrites it. */
  readonly temporary?: string;
  /** Called at the last moment, before each attempt. If it throws, the file stays as it is. */
  readonly check?: () => void;
}

/**
 * Replaces or creates a file durably, as far as the file system allows. After a failure, a full disk or a crash, the old file
 * is complete. Links are replaced, not followed.
 *
 * A file that can't be replaced, because it is mounted or its folder isn't writable, is overwritten. Then it is complete after
 * a failure or on a full disk, too, but a crash may leave a mixture of the old and the new content.
 */
export async function replaceFile(
  file: string,
  content: string | Uint8Array,
  { mode, temporary = `${file}.${randomUUID()}`, check = () => {} }: ReplaceOptions = {},
): Promise<void> {
  const old = await stat(file).catch(() => undefined);
  try {
    await writeCopy(temporary, content, old, mode);
    await renameOver(temporary, file, check);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    const canOverwrite = old?.isFile() === true && process.platform !== 'win32';
    if (!canOverwrite || !IRREPLACEABLE.includes(fieldsOf(error).code)) throw error;
    check();
    return await overwrite(file, Buffer.from(content));
  }
  await syncFolder(path.dirname(file));
}

/** Codes of the errors for a file that is mounted, a folder that isn't writable, and a file system without owners or permissions. */
const IRREPLACEABLE: readonly unknown[] = ['EBUSY', 'EACCES', 'EPERM', 'EROFS', 'EXDEV', 'ENOTSUP', 'ENOSYS'];

async function writeCopy(
  temporary: string,
  content: string | Uint8Array,
  old: Stats | undefined,
  mode: number | undefined,
): Promise<void> {
  await rm(temporary, { force: true });
  const handle = await open(temporary, 'wx', old === undefined ? mode : 0o600);
  try {
    await handle.writeFile(content);
    if (old !== undefined) {
      if (process.getuid?.() === 0) await handle.chown(old.uid, old.gid);
      await handle.chmod(old.mode & 0o7777);
    }
    await syncIfOffered(handle);
  } finally {
    await handle.close();
  }
}

/** Overwrites a file. Follows no link, because the file may have become one, and rejects a file that also has another name. */
async function overwrite(file: string, content: Uint8Array): Promise<void> {
  const handle = await open(file, constants.O_RDWR | constants.O_NOFOLLOW);
  try {
    const stats = await handle.stat();
    if (!stats.isFile() || stats.nlink !== 1) throw new Error(`${file} is a hard link.`);
    const old = await handle.readFile();
    try {
      // The part beyond the old end is written first: on a full disk, only this can fail, and the old content is still there.
      await writeAt(handle, content.subarray(old.length), old.length);
      await syncIfOffered(handle);
      await writeAt(handle, content.subarray(0, old.length), 0);
      await handle.truncate(content.length);
      await syncIfOffered(handle);
    } catch (error) {
      await writeAt(handle, old, 0);
      await handle.truncate(old.length);
      throw error;
    }
  } finally {
    await handle.close();
  }
}

async function writeAt(handle: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  if (bytes.length === 0) return;
  const { bytesWritten } = await handle.write(bytes, 0, bytes.length, position);
  await writeAt(handle, bytes.subarray(bytesWritten), position + bytesWritten);
}

const SYNC_NOT_OFFERED: readonly unknown[] = ['EINVAL', 'ENOTSUP', 'ENOSYS'];

/** Syncs the file, except on network and FUSE file systems that can't. */
async function syncIfOffered(handle: FileHandle): Promise<void> {
  await handle.sync().catch((error: unknown) => {
    if (!SYNC_NOT_OFFERED.includes(fieldsOf(error).code)) throw error;
  });
}

const RENAME_ATTEMPTS = 100;
/** Milliseconds between two attempts to rename a file. */
const RENAME_PAUSE = 20;

const IN_USE: readonly unknown[] = ['EPERM', 'EACCES', 'EBUSY'];

/** Whether a rename failed because another program, such as a virus scanner, has the file open, which Windows rejects. */
const isInUse = (error: unknown): boolean =>
  process.platform === 'win32' && IN_USE.includes(fieldsOf(error).code);

async function renameOver(
  from: string,
  to: string,
  check: () => void,
  attempts = RENAME_ATTEMPTS,
): Promise<void> {
  try {
    check();
    // A rename that doesn't wait for a thread leaves another program no time to replace the file after the check.
    renameSync(from, to);
  } catch (error) {
    if (!isInUse(error) || attempts === 1) throw error;
    await pause(RENAME_PAUSE);
    await renameOver(from, to, check, attempts - 1);
  }
}

/** Renames a file or folder and replaces an existing file. On Windows, it may block this thread for two seconds. */
export function renameOverSync(from: string, to: string, attempts = RENAME_ATTEMPTS): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (!isInUse(error) || attempts === 1) throw error;
    pauseSync();
    renameOverSync(from, to, attempts - 1);
  }
}

const pauseSync = () => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RENAME_PAUSE);

/** Creates a file that only this user can read, complete from the beginning. @returns false if there is one already */
export function createFileSync(file: string, content: string): boolean {
  const temporary = `${file}.${randomUUID()}`;
  try {
    writeFileSync(temporary, content, { mode: 0o600, flush: true });
    return linkIfMissing(temporary, file);
  } finally {
    rmSync(temporary, { force: true });
  }
}

function linkIfMissing(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    const { code } = fieldsOf(error);
    if (code === 'EEXIST') return false;
    if (!LINKS_NOT_OFFERED.includes(code)) throw error;
    return renameIfMissing(from, to);
  }
}

/** Codes of the errors of a file system without hard links, such as FAT. */
const LINKS_NOT_OFFERED: readonly unknown[] = ['EPERM', 'EACCES', 'ENOTSUP', 'ENOSYS'];

/**
 * Renames a file unless there is one with the new name. A rename itself would replace that one. So a folder serves as a lock, because
 * only one process can create it.
 */
function renameIfMissing(from: string, to: string): boolean {
  const lock = `${to}.lock`;
  lockFolder(lock);
  try {
    if (existsSync(to)) return false;
    renameOverSync(from, to);
    return true;
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

/** Waits for the lock. If it isn't released in time, a killed process has left it behind, and it doesn't count. */
function lockFolder(folder: string, attempts = RENAME_ATTEMPTS): void {
  try {
    mkdirSync(folder);
  } catch (error) {
    if (fieldsOf(error).code !== 'EEXIST') throw error;
    if (attempts === 1) return;
    pauseSync();
    lockFolder(folder, attempts - 1);
  }
}

/**
 * Makes the rename durable. Windows doesn't offer this and doesn't need it. Errors are ignored, because the file has been replaced, so
 * they must not look like failures of that.
 */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r').catch(() => undefined);
  await handle?.sync().catch(() => undefined);
  await handle?.close().catch(() => undefined);
}
