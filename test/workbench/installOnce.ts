// Fills a cache folder exactly once. The content is written to a staging folder, which is renamed when it is complete, so that a
// folder with the final name is complete even if a process was interrupted or another one does the same.
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';

/** Returns `folder`, after `fill` has written its content if it did not exist. */
export async function installOnce(folder: string, fill: (staging: string) => Promise<void>): Promise<string> {
  if (existsSync(folder)) return folder;
  const staging = `${folder}.${process.pid}.partial`;
  await rm(staging, { recursive: true, force: true });
  await mkdir(staging, { recursive: true });
  try {
    await fill(staging);
    await rename(staging, folder).catch((error: unknown) => {
      if (!existsSync(folder)) throw error;
    });
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
  return folder;
}
