/** Changes files that other programs may be writing to at the same time. */
import { lstatSync, type BigIntStats } from 'node:fs';
import { appendFile, type FileHandle } from 'node:fs/promises';
import { pause } from './clock.ts';
import { ignoreMissing, MAX_SIZE, openUserFile, readFrom } from './files.ts';
import { replaceFile } from './replaceFile.ts';

interface FileContents {
  /** Undefined if the file was created. */
  readonly before: Buffer | undefined;
  readonly after: Buffer;
}

/** Returns the new content; undefined to leave the file. Called again if another program has replaced the file. */
type Change = (before: Buffer | undefined) => Uint8Array | undefined;

/** The last change of each file, in this process. */
const turns = new Map<string, Promise<unknown>>();

/**
 * Reads, changes and replaces a file, one change of a file after the other. Keeps what other programs append in the meantime,
 * and repeats the change if another program replaces the file.
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

/** Programs that replace the file again and again. */
const MAX_ATTEMPTS = 100;

async function changeNow(
  file: string,
  change: Change,
  mode: number | undefined,
): Promise<FileContents | undefined> {
  let made: FileContents | undefined;
  /** What another program has written to the file that was replaced. */
  let missed: Buffer | undefined;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const old = await openUserFile(file).catch(ignoreMissing);
    try {
      const stats = await old?.stat({ bigint: true });
      const current = old && (await readFrom(old));
      if (stats?.isFile() === false || (current?.length ?? 0) > MAX_SIZE)
        throw new Error(`${file} isn't a file, or is too large.`);
      const isOwn = made !== undefined && current?.equals(made.after) === true;
      if (isOwn && missed === undefined) return made;
      const before = isOwn ? missed : current;
      const changed = change(before) ?? before;
      if (changed === undefined || current?.equals(changed) === true) return made;
      // Its folder may still let it be replaced.
      if (stats !== undefined && (stats.mode & 0o222n) === 0n) throw new Error(`${file} is read-only.`);
      const after = Buffer.from(changed);
      // Windows replaces no open file, so there no program can write to the replaced one.
      if (process.platform === 'win32') await old?.close();
      if (!(await replace(file, after, stats, mode))) continue;
      made = { before, after };
      const isReplaced = process.platform !== 'win32' && !isAt(file, stats);
      missed = old && isReplaced ? await addedTo(old, current, file) : undefined;
    } finally {
      await old?.close();
    }
  }
  if (made === undefined) throw new Error(`${file} keeps changing.`);
  return made;
}

/** Whether the path still leads to this file, or to none. Doesn't wait, so the answer is right at the moment of a rename. */
function isAt(file: string, stats: BigIntStats | undefined): boolean {
  const current = lstatSync(file, { bigint: true, throwIfNoEntry: false });
  return current?.ino === stats?.ino && current?.dev === stats?.dev;
}

/** @returns false if another program has replaced the file since it was read */
async function replace(
  file: string,
  content: Buffer,
  stats: BigIntStats | undefined,
  mode: number | undefined,
): Promise<boolean> {
  const moved = new Error(`${file} was replaced.`);
  try {
    const check = () => {
      if (!isAt(file, stats)) throw moved;
    };
    await replaceFile(file, content, { mode, check });
    return true;
  } catch (error) {
    if (error === moved) return false;
    throw error;
  }
}

/** Milliseconds in which a program that had the replaced file open may still write to it. */
const LATE_WRITES = 50;

/**
 * Moves what was appended to the replaced file since it was read to the new one.
 * @returns the replaced file if it was changed in another way. An empty file is just being written, so it doesn't count
 */
async function addedTo(
  replaced: FileHandle,
  read: Buffer | undefined,
  file: string,
): Promise<Buffer | undefined> {
  let length = read?.length ?? 0;
  for (const isLast of [false, true]) {
    if (isLast) await pause(LATE_WRITES);
    const late = await readFrom(replaced);
    if (read?.equals(late.subarray(0, read.length)) !== true) return late.length === 0 ? undefined : late;
    if (late.length > length) await appendFile(file, late.subarray(length));
    length = late.length;
  }
  return undefined;
}
