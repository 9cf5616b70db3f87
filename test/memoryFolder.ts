// Creates the temporary folder of a test run, in memory if possible.
import { accessSync, constants, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { chmod, mkdtemp, readdir, readFile, rm, statfs } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { isAlive } from '../src/base/programs/isAlive.ts';
import { SYSTEM_STORAGE_FOLDER } from '../src/service/privileges/storageFolder.ts';

/** A file system that Linux keeps in memory. */
const parent = '/dev/shm';
/** Several times the bytes that a run needs. */
const requiredBytes = 4 * 1024 ** 3;

/**
 * Creates a temporary folder in memory. Returns undefined if there is not enough memory. The suites create and remove
 * hundreds of Postgres data directories, and ext4 creates files more and more slowly after many removals.
 */
export async function makeMemoryFolder(): Promise<string | undefined> {
  if (process.platform !== 'linux' || !(await canUseMemory())) return undefined;
  await removeAbandoned();
  // The name is short because paths of VS Code's sockets below it are close to the length limit.
  const folder = await mkdtemp(path.join(parent, `hpg-${process.pid}-`));
  // Same mode as /tmp. Postgres refuses to run as root, and its account must be able to reach its data in here.
  await chmod(folder, 0o1777);
  return folder;
}

/** Removal is retried, because a service of another run that starts now empties and removes such folders, too. */
const FORCED = { recursive: true, force: true, maxRetries: 10, retryDelay: 100 };

/** Removes what local services of root have stored outside of their data directories, if these are in the folder. */
export function removeStorageOf(folder: string): void {
  const names = existsSync(SYSTEM_STORAGE_FOLDER) ? readdirSync(SYSTEM_STORAGE_FOLDER) : [];
  for (const name of names.filter((each) => each.endsWith('.json'))) {
    const file = path.join(SYSTEM_STORAGE_FOLDER, name);
    if (!readIfExists(file).includes(`"${folder}/`)) continue;
    rmSync(file.slice(0, -'.json'.length), FORCED);
    rmSync(file, FORCED);
  }
}

function readIfExists(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error && error.code;
    // Only root can read what services of root have written, so another user's are not among them.
    if (code === 'ENOENT' || code === 'EACCES') return '';
    throw error;
  }
}

async function canUseMemory(): Promise<boolean> {
  try {
    accessSync(parent, constants.W_OK);
    const { bavail, bsize } = await statfs(parent);
    const isEnough = bavail * bsize >= requiredBytes && os.freemem() >= requiredBytes;
    return isEnough && (await allowsPrograms());
  } catch {
    return false;
  }
}

/** Containers may mount it with `noexec`. */
async function allowsPrograms(): Promise<boolean> {
  const mounts = (await readFile('/proc/self/mounts', 'utf8')).split('\n').map((line) => line.split(' '));
  const options = mounts.find(([, folder]) => folder === parent)?.[3];
  return options !== undefined && !options.split(',').includes('noexec');
}

/** Removes the folders of runs that were killed. */
async function removeAbandoned(): Promise<void> {
  for (const name of await readdir(parent)) {
    const pid = /^hpg-(\d+)-/.exec(name)?.[1];
    if (pid === undefined || isAlive(Number(pid))) continue;
    await rm(path.join(parent, name), { recursive: true, force: true }).catch(() => undefined);
  }
}
