// The temporary folder of a test run, in memory where that can be had.
import { accessSync, constants } from 'node:fs';
import { chmod, mkdtemp, readdir, readFile, rm, statfs } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { isAlive } from '../src/base/processIdentity.ts';

/** What is written here Linux keeps in memory. */
const parent = '/dev/shm';
/** Bytes; several times what a run needs. */
const room = 4 * 1024 ** 3;

/**
 * Makes a temporary folder in memory; undefined where there is no room for one. The suites make and remove data
 * directories of Postgres by the hundred, and ext4 takes ever longer to make files where others were just removed.
 */
export async function makeMemoryFolder(): Promise<string | undefined> {
  if (process.platform !== 'linux' || !(await hasRoom())) return undefined;
  await removeAbandoned();
  // A short name: the sockets that VS Code makes below have the longest path that there may be.
  const folder = await mkdtemp(path.join(parent, `hpg-${process.pid}-`));
  // Open as /tmp is: Postgres, which will not run as root, has to reach its data in here.
  await chmod(folder, 0o1777);
  return folder;
}

async function hasRoom(): Promise<boolean> {
  try {
    accessSync(parent, constants.W_OK);
    const { bavail, bsize } = await statfs(parent);
    return bavail * bsize >= room && os.freemem() >= room && (await runsPrograms());
  } catch {
    return false;
  }
}

/** Containers may mount it for data only. */
async function runsPrograms(): Promise<boolean> {
  const mounts = (await readFile('/proc/self/mounts', 'utf8')).split('\n').map((line) => line.split(' '));
  const options = mounts.find(([, folder]) => folder === parent)?.[3];
  return options !== undefined && !options.split(',').includes('noexec');
}

/** Of runs that were killed. */
async function removeAbandoned(): Promise<void> {
  for (const name of await readdir(parent)) {
    const pid = /^hpg-(\d+)-/.exec(name)?.[1];
    if (pid === undefined || isAlive(Number(pid))) continue;
    await rm(path.join(parent, name), { recursive: true, force: true }).catch(() => undefined);
  }
}
