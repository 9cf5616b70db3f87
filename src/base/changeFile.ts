/** Changes files that other programs may be writing to at the same time. */
import { lstatSync, type BigIntStats } from 'node:fs';
import { ignoreMissing, MAX_SIZE, openUserFile, readStart } from './files.ts';
import { replaceFile } from './replaceFile.ts';

interface FileContents {
  /** Undefined if the file was created. */
  readonly before: Buffer | undefined;
  readonly after: Buffer;
}

/** Returns the new content; undefined to leave the file. Called again if another program has changed the file. */
type Change = (before: Buffer | undefined) => Uint8Array | undefined;

/** The last change of each file, in this process. */
const turns = new Map<string, Promise<unknown>>();

/**
 * Reads, changes and replaces a file, one change of a file after the other. Repeats the change if another program has changed
 * the file since it was read, or has replaced it by the time that it is read again.
 * @param file with links resolved. @param mode of a new file. @returns undefined if there was nothing to change
 */
export async function changeFile(
  file: string,
  change: Change,
  mode?: number,
): Promise<FileContents | undefined> {
  const turn = (turns.get(file) ?? Promise.resolve()).then(() => changeNow(file, change, mode));
  const settled = turn.catch(() => undefined);
  turns.set(file, settled);
  try {
    return await turn;
  } finally {
    if (turns.get(file) === settled) turns.delete(file);
  }
}

/** Another program may change the file again and again. */
const MAX_ATTEMPTS = 100;

async function changeNow(
  file: string,
  change: Change,
  mode: number | undefined,
): Promise<FileContents | undefined> {
  let made: FileContents | undefined;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const { stats, before } = await read(file);
    if (made !== undefined && before?.equals(made.after) === true) return made;
    const changed = change(before) ?? before;
    if (changed === undefined || before?.equals(changed) === true) return made;
    const after = Buffer.from(changed);
    if (await replace(file, after, stats, mode)) made = { before, after };
  }
  if (made === undefined) throw new Error(`${file} keeps changing.`);
  return made;
}

interface ReadFile {
  readonly stats?: BigIntStats;
  readonly before?: Buffer;
}

/** @returns nothing of a missing file. @throws {Error} if it isn't a file, or is too large */
async function read(file: string): Promise<ReadFile> {
  const handle = await openUserFile(file).catch(ignoreMissing);
  if (handle === undefined) return {};
  try {
    const stats = await handle.stat({ bigint: true });
    const before = await readStart(handle);
    if (!stats.isFile() || before.length > MAX_SIZE)
      throw new Error(`${file} isn't a file, or is too large.`);
    return { stats, before };
  } finally {
    await handle.close();
  }
}

/** Whether the file is as it was read. Doesn't wait, so the answer is right at the moment of a rename. */
function isUnchanged(file: string, stats: BigIntStats | undefined): boolean {
  const current = lstatSync(file, { bigint: true, throwIfNoEntry: false });
  return (['dev', 'ino', 'size', 'mtimeNs'] as const).every((field) => current?.[field] === stats?.[field]);
}

/** @returns false if another program has changed the file since it was read */
async function replace(
  file: string,
  content: Buffer,
  stats: BigIntStats | undefined,
  mode: number | undefined,
): Promise<boolean> {
  const changed = new Error(`${file} has changed.`);
  try {
    const check = () => {
      if (!isUnchanged(file, stats)) throw changed;
    };
    await replaceFile(file, content, { mode, check });
    return true;
  } catch (error) {
    if (error === changed) return false;
    throw error;
  }
}
