/** Whether the disk has space for history, and what users read if history was removed for lack of it. */
import { existsSync, rmSync } from 'node:fs';
import { readFile, statfs } from 'node:fs/promises';
import path from 'node:path';
import { writePrivateFile } from '../storage/privateFiles.ts';
import type { EngineStorage } from '../storage/storage.ts';

const MB = 1024 ** 2;
const GB = 1024 * MB;
const LEAST_FREE = 5 * GB;
/** The part of a small disk that history must leave free. */
const FREE_PART = 0.1;

/** Whether the disk has space for history. */
export interface DiskSpace {
  /** Whether more is free than what is needed. */
  readonly isFree: boolean;
  /** How much space is needed, such as `5 GB`. */
  readonly needed: string;
}

/** @param leastFree bytes, if they are not the usual ones @param needed bytes that will be written */
export async function readDiskSpace(
  { root }: Pick<EngineStorage, 'root'>,
  { leastFree, needed = 0 }: { readonly leastFree?: number; readonly needed?: number } = {},
): Promise<DiskSpace> {
  const { bavail, blocks, bsize } = await statfs(root);
  const least = needed + (leastFree ?? Math.min(blocks * bsize * FREE_PART, LEAST_FREE));
  return { isFree: bavail * bsize > least, needed: sizeText(least) };
}

const sizeText = (bytes: number): string =>
  bytes < GB ? `${Math.ceil(bytes / MB)} MB` : `${Number((bytes / GB).toFixed(1))} GB`;

/** A file next to the data of a branch: a sentence for users about why its history begins late. */
const NOTE = 'history-space';

/**
 * Writes the note that history was removed, or not made, for lack of space; or removes the note.
 * @param lacking undefined if history was removed for another reason
 */
export function updateSpaceNote(branchFolder: string, lacking: DiskSpace | undefined): void {
  const file = path.join(branchFolder, NOTE);
  if (lacking === undefined) return rmSync(file, { force: true });
  if (existsSync(file)) return;
  try {
    writePrivateFile(file, `History needs ${lacking.needed} of free disk space, and there was less.`);
  } catch {
    // The disk may be full.
  }
}

/** Returns a sentence if the disk is why the history of a branch begins late or is missing. */
export const readSpaceNote = (storage: EngineStorage, branchId: string): Promise<string | undefined> =>
  readFile(path.join(storage.branch(branchId), NOTE), 'utf8').catch(() => undefined);

/** The storages whose log has the problem already. */
const reported = new WeakSet<EngineStorage>();

/** Logs a lack of space, once until there is enough again. */
export function reportSpace(
  storage: EngineStorage,
  lacking: DiskSpace | undefined,
  log: (line: string) => void,
): void {
  if (lacking === undefined) reported.delete(storage);
  else if (!reported.has(storage)) {
    reported.add(storage);
    log(
      `Less than ${lacking.needed} of the disk is free, so history of branches is removed, and Undo can't go back to it`,
    );
  }
}
