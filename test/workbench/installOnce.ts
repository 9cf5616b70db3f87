// Fills a folder of the cache exactly once, however many processes ask for it at the same time and
// however often one of them was interrupted: the work happens in a staging folder that is renamed into
// place when it is complete, so a folder that exists under its final name needs no further marker.
import { link, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isAlive } from '../../src/base/processIdentity.ts';

/**
 * Returns `folder`, first letting `fill` write its contents when it does not exist yet. A lock file beside
 * it saves a second process the same work; should the lock ever fail, the rename still keeps both right.
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
  // Linked into place with its content, so that no one ever reads a lock without an owner.
  const mine = `${lockFile}.${process.pid}`;
  await writeFile(mine, String(process.pid));
  try {
    await untilLinked(mine, lockFile);
  } finally {
    await rm(mine, { force: true });
  }
  return () => rm(lockFile, { force: true });
}

async function untilLinked(mine: string, lockFile: string): Promise<void> {
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
