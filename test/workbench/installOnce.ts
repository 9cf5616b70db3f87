// Fills a cache folder exactly once, even if several processes need it at the same time or one of them was
// interrupted. The content is written to a staging folder, which is renamed when it is complete. So a folder that has
// its final name is always complete.
import { link, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isAlive } from '../../src/base/processIdentity.ts';

/**
 * Returns `folder`, after `fill` has written its content if it did not exist. A lock file next to it keeps a second
 * process from doing the same work. Even without the lock, the rename would leave a complete folder.
 */
export async function installOnce(folder: string, fill: (staging: string) => Promise<void>): Promise<string> {
  if (await exists(folder)) return folder;
  await mkdir(path.dirname(folder), { recursive: true });
  const release = await acquire(`${folder}.lock`);
  try {
    if (await exists(folder)) return folder;
    const staging = `${folder}.${process.pid}.partial`;
    await rm(staging, { recursive: true, force: true });
    await mkdir(staging);
    try {
      await fill(staging);
      await rename(staging, folder).catch(async (error: unknown) => {
        if (!(await exists(folder))) throw error;
      });
    } finally {
      await rm(staging, { recursive: true, force: true });
    }
    return folder;
  } finally {
    await release();
  }
}

async function acquire(lockFile: string): Promise<() => Promise<void>> {
  // A hard link creates the lock with its content, so that no process reads a lock without an owner.
  const mine = `${lockFile}.${process.pid}`;
  await writeFile(mine, String(process.pid));
  try {
    await waitForLink(mine, lockFile);
  } finally {
    await rm(mine, { force: true });
  }
  return () => rm(lockFile, { force: true });
}

async function waitForLink(mine: string, lockFile: string): Promise<void> {
  let announced = false;
  for (;;) {
    try {
      await link(mine, lockFile);
      return;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    }
    const owner = Number(await readFile(lockFile, 'utf8').catch(() => ''));
    if (owner > 0 && !isAlive(owner)) {
      await rm(lockFile, { force: true });
      continue;
    }
    if (!announced) console.log(`Waiting for process ${owner} to finish the same installation…`);
    announced = true;
    await delay(250);
  }
}

async function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  );
}
