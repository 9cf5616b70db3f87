/** Changes files that other programs may be writing to at the same time. */
import { randomUUID } from 'node:crypto';
import { lstatSync, readFileSync, type BigIntStats } from 'node:fs';
import { appendFile, link, open, rm, type FileHandle } from 'node:fs/promises';
import { pause } from './clock.ts';
import { ignoreMissing, MAX_FILE_SIZE, openUserFile, readUpTo } from './files.ts';
import { replaceFile } from './replaceFile.ts';

interface FileContents {
  /** Undefined if the file was created. */
  readonly before: Buffer | undefined;
  readonly after: Buffer;
}

/** Returns the new content; undefined to leave the file. It is called again if another program has replaced the file. */
type Change = (before: Buffer | undefined) => Uint8Array | undefined;

/** The last change of each file, in this process. */
const turns = new Map<string, Promise<unknown>>();

/**
 * Reads, changes and replaces a file, one change of a file after the other. Keeps what other programs append in the meantime,
 * and repeats the change if another program replaces the file.
 * @param file the path with links resolved. @param mode the mode of a new file. @returns undefined if there was nothing to change
 */
export async function changeFile(
  file: string,
  change: Change,
  mode?: number,
): Promise<FileContents | undefined> {
  const turn = (turns.get(file) ?? Promise.resolve()).then(() => changeUntilWritten(file, change, mode));
  const settled = turn.catch(() => undefined);
  turns.set(file, settled);
  try {
    return await turn;
  } finally {
    if (turns.get(file) === settled) turns.delete(file);
  }
}

/** What was read from a file, and the file itself. */
interface ReadFile {
  /** The open file. It is closed on Windows, which neither replaces an open file nor lets another program do so. */
  readonly handle: FileHandle;
  readonly stats: BigIntStats;
  readonly content: Buffer;
}

/** The most attempts, in case a program replaces the file again and again. */
const MAX_ATTEMPTS = 100;

/**
 * Replaces the file until no other program has written to it in between. Such a late write, found in the replaced file, is given to
 * `change` in the next attempt, so that it isn't lost.
 */
async function changeUntilWritten(
  file: string,
  change: Change,
  mode: number | undefined,
): Promise<FileContents | undefined> {
  let made: FileContents | undefined;
  /** What another program has written to the file that was replaced. */
  let missed: Buffer | undefined;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const handle = await openUserFile(file).catch(ignoreMissing);
    try {
      const read = handle && (await readOpenFile(handle, file));
      const isOwn = made !== undefined && read?.content.equals(made.after) === true;
      if (isOwn && missed === undefined) return made;
      const before = isOwn ? missed : read?.content;
      const changed = change(before) ?? before;
      if (changed === undefined || read?.content.equals(changed) === true) return made;
      // The folder may allow a replacement that the file itself forbids.
      if (read !== undefined && (read.stats.mode & 0o222n) === 0n) throw new Error(`${file} is read-only.`);
      const after = Buffer.from(changed);
      const written = await replaceUnlessMoved(file, after, read, mode);
      if (written === MOVED) continue;
      made = { before, after };
      missed = written;
    } finally {
      await handle?.close();
    }
  }
  if (made === undefined) throw new Error(`${file} keeps changing.`);
  return made;
}

async function readOpenFile(handle: FileHandle, file: string): Promise<ReadFile> {
  const stats = await handle.stat({ bigint: true });
  const content = await readUpTo(handle);
  if (process.platform === 'win32') await handle.close();
  if (!stats.isFile() || content.length > MAX_FILE_SIZE)
    throw new Error(`${file} isn't a file, or is too large.`);
  return { handle, stats, content };
}

/** Whether the path still leads to this file, or to none. This doesn't wait, so the answer is right at the moment of a rename. */
function isFileUnchanged(file: string, read: ReadFile | undefined): boolean {
  const current = lstatSync(file, { bigint: true, throwIfNoEntry: false });
  return current?.ino === read?.stats.ino && current?.dev === read?.stats.dev;
}

/** Thrown and returned if another program has replaced the file since it was read. */
const MOVED = Symbol('moved');

/**
 * Replaces the file, unless another program has replaced it since it was read.
 * @returns what another program has written to the replaced file, see {@link moveLateWrites}
 */
async function replaceUnlessMoved(
  file: string,
  content: Buffer,
  read: ReadFile | undefined,
  mode: number | undefined,
): Promise<Buffer | undefined | typeof MOVED> {
  // Windows doesn't replace an open file. There, a second name gives access to the replaced file, unless the file system has no
  // links.
  const otherName = process.platform === 'win32' && read ? `${file}.${randomUUID()}` : undefined;
  const isKept = otherName === undefined || (await tryLink(file, otherName));
  const requireUnmoved = () => {
    if (!isFileUnchanged(file, read) || !(isKept || read?.content.equals(readFileSync(file)))) throw MOVED;
  };
  try {
    await replaceFile(file, content, { mode, check: requireUnmoved });
    if (read === undefined || isFileUnchanged(file, read)) return undefined;
    const replaced = otherName === undefined ? read.handle : await open(otherName).catch(ignoreMissing);
    try {
      return await moveLateWrites(replaced, read.content, file);
    } finally {
      await replaced?.close();
    }
  } catch (error) {
    if (error === MOVED) return MOVED;
    throw error;
  } finally {
    if (otherName !== undefined) await rm(otherName, { force: true });
  }
}

const tryLink = async (file: string, otherName: string): Promise<boolean> =>
  link(file, otherName).then(
    () => true,
    () => false,
  );

/** Milliseconds in which a program that had the replaced file open may still write to it. */
const LATE_WRITES = 50;

/**
 * Appends to the new file what a program has appended to the replaced one since that was read.
 * @returns the content of the replaced file if it was changed in another way. An empty file doesn't count, because a program is just
 * writing it
 */
async function moveLateWrites(
  replaced: FileHandle | undefined,
  read: Buffer,
  file: string,
): Promise<Buffer | undefined> {
  if (replaced === undefined) return undefined;
  let { length } = read;
  for (const isLast of [false, true]) {
    if (isLast) await pause(LATE_WRITES);
    const late = await readUpTo(replaced);
    if (!read.equals(late.subarray(0, read.length))) return late.length === 0 ? undefined : late;
    if (late.length > length) await appendFile(file, late.subarray(length));
    length = late.length;
  }
  return undefined;
}
