import { randomUUID } from 'node:crypto';
import { linkSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { pause } from './clock.ts';
import { fieldsOf } from './fieldsOf.ts';

interface ReplaceOptions {
  /** Permissions of a new file. An existing file keeps its permissions and, if this process is root, its owner. */
  readonly mode?: number | undefined;
  /** The file's name until it is complete. A killed process leaves it behind, and the next one overwrites it. */
  readonly temporary?: string;
}

/**
 * Replaces or creates a file durably. After a failure, a full disk or a crash, the old file is complete. Links are replaced,
 * not followed.
 */
export async function replaceFile(
  file: string,
  content: string | Uint8Array,
  { mode, temporary = `${file}.${randomUUID()}` }: ReplaceOptions = {},
): Promise<void> {
  const old = await stat(file).catch(() => undefined);
  await rm(temporary, { force: true });
  try {
    const handle = await open(temporary, 'wx', old === undefined ? mode : 0o600);
    try {
      await handle.writeFile(content);
      if (old !== undefined) {
        if (process.getuid?.() === 0) await handle.chown(old.uid, old.gid);
        await handle.chmod(old.mode & 0o7777);
      }
      await handle.sync();
    } finally {
      await handle.close();
    }
    await renameOver(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(path.dirname(file));
}

const RENAME_ATTEMPTS = 100;
/** Milliseconds. */
const RENAME_PAUSE = 20;

/** Windows rejects a rename while another program, such as a virus scanner, has the file open. */
async function renameOver(from: string, to: string, attempts = RENAME_ATTEMPTS): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (process.platform !== 'win32' || attempts === 1) throw error;
    await pause(RENAME_PAUSE);
    await renameOver(from, to, attempts - 1);
  }
}

const IN_USE: readonly unknown[] = ['EPERM', 'EACCES', 'EBUSY'];

/** Renames a file or folder and replaces an existing file. On Windows, it may block this thread for two seconds. */
export function renameOverSync(from: string, to: string, attempts = RENAME_ATTEMPTS): void {
  try {
    renameSync(from, to);
  } catch (error) {
    const isInUse = error instanceof Error && 'code' in error && IN_USE.includes(error.code);
    if (process.platform !== 'win32' || !isInUse || attempts === 1) throw error;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RENAME_PAUSE);
    renameOverSync(from, to, attempts - 1);
  }
}

/** Creates a file that only this user can read, complete from the beginning. @returns false if it exists */
export function createFileSync(file: string, content: string): boolean {
  const temporary = `${file}.${randomUUID()}`;
  try {
    writeFileSync(temporary, content, { mode: 0o600 });
    linkSync(temporary, file);
    return true;
  } catch (error) {
    if (fieldsOf(error).code !== 'EEXIST') throw error;
    return false;
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** Makes the rename durable. Not available on Windows, and not needed there. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
