/** Reads files in folders that others can write to. A path there may be a link, a folder, a FIFO or a device. */
import { constants as bufferConstants } from 'node:buffer';
import { constants, lstatSync, readFileSync } from 'node:fs';
import { lstat, open, realpath, stat, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { systemClock, type Clock } from './clock.ts';
import { fieldsOf } from './fieldsOf.ts';
import { limitConcurrency } from './limitConcurrency.ts';

/** `outside` means that the file isn't in the folders; `noFile`, that the path is that of a folder, FIFO or device, for example. */
type ResolveProblem = 'brokenLink' | 'outside' | 'noFile';

export interface ResolvedFile {
  /** The path with links resolved. The file may not exist. */
  readonly path: string;
  /** Whether the path itself is a link, not only a parent folder. */
  readonly isLink: boolean;
  readonly problem?: ResolveProblem;
}

/** Resolves links, which may lead out of the folders. @throws {Error} if the file's folder doesn't exist */
export async function resolveFile(file: string, folders: readonly string[]): Promise<ResolvedFile> {
  const entry = path.join(await realpath(path.dirname(file)), path.basename(file));
  const stats = await lstat(entry).catch(ignoreMissing);
  const isLink = stats?.isSymbolicLink() === true;
  const real = stats === undefined ? entry : await realpath(entry).catch(ignoreMissing);
  if (real === undefined) return { path: entry, isLink, problem: 'brokenLink' };
  const roots = await Promise.all(folders.map((folder) => realpath(folder).catch(ignoreMissing)));
  const isInside = roots.some((root) => root !== undefined && isWithin(root, real));
  if (!isInside) return { path: real, isLink, problem: 'outside' };
  const isFile = stats === undefined || (await stat(real)).isFile();
  return { path: real, isLink, ...(isFile ? {} : { problem: 'noFile' }) };
}

/** Whether a path is the folder or in it. Both paths must be absolute, with links resolved. */
export function isWithin(folder: string, file: string): boolean {
  const relative = path.relative(folder, file);
  return !path.isAbsolute(relative) && relative.split(path.sep)[0] !== '..';
}

/** Rethrows every error except that of a missing file. Use this to catch errors of operations on a file that may not exist. */
export function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

/** Why a file can't be used. */
export type FileProblem = ResolveProblem | 'tooLarge' | 'tooSlow' | 'unreadable';

/** A missing file has neither bytes nor a problem. */
interface UserFile {
  /** The path with links resolved, if the file can be used. */
  readonly path: string;
  readonly bytes?: Buffer;
  /** Whether the file is longer, so that `bytes` are only its last ones. */
  readonly isCut?: boolean;
  readonly problem?: FileProblem;
}

const { MAX_STRING_LENGTH } = bufferConstants;
/** The most bytes of a file that is read. Env files, and the files of git that are read, have a few hundred. */
export const MAX_FILE_SIZE = 1024 * 1024;
/** The most milliseconds for reading a file, including the wait for other files. */
const READ_WAIT = 10_000;

interface ReadOptions {
  readonly clock?: Clock;
  /** Reads the end of a file that is too large, instead of failing. */
  readonly onlyEnd?: boolean;
}

/** Runs only two reads at a time, which leaves threads of Node to other work, even if no file answers. */
const twoAtATime = limitConcurrency(2);

/**
 * Reads a file that a user, a tool or a stranger's repository has put into a folder. It may be a FIFO without a writer, a link
 * to a device that never ends, or on a file system that doesn't answer. A plain read would then block one of the four threads
 * that Node has for the files of all extensions of a window. The promise never rejects.
 * @param folders the file must be in one of them, with links resolved
 */
export async function readUserFile(
  file: string,
  folders: readonly string[],
  { clock = systemClock, onlyEnd = false }: ReadOptions = {},
): Promise<UserFile> {
  const { promise: late, resolve } = Promise.withResolvers<UserFile>();
  let isLate = false;
  const timer = clock.after(READ_WAIT, () => {
    isLate = true;
    resolve({ path: file, problem: 'tooSlow' });
  });
  const reading = twoAtATime(async () =>
    isLate ? await late : await resolveAndRead(file, folders, onlyEnd),
  );
  try {
    return await Promise.race([reading, late]);
  } finally {
    timer.dispose();
  }
}

/** Reads the text of a file in the folder. @returns undefined if the file doesn't exist or can't be used */
export async function readUserText(file: string, folder: string): Promise<string | undefined> {
  return (await readUserFile(file, [folder])).bytes?.toString();
}

/**
 * Reads the last lines of a file in the folder, such as a log that only grows. These are all lines, unless the file has more than
 * {@link MAX_FILE_SIZE}.
 * @returns undefined if the file doesn't exist or can't be used
 */
export async function readLastLines(file: string, folder: string) {
  const { bytes, isCut = false } = await readUserFile(file, [folder], { onlyEnd: true });
  const lines = bytes?.toString().split('\n');
  // The first line may be only the end of one, which looks like a whole line.
  return lines && { lines: isCut ? lines.slice(1) : lines, isCut };
}

async function resolveAndRead(file: string, folders: readonly string[], onlyEnd: boolean): Promise<UserFile> {
  try {
    const { path, problem } = await resolveFile(file, folders);
    if (problem !== undefined) return { path: file, problem };
    const handle = await openUserFile(path);
    try {
      const stats = await handle.stat();
      if (!stats.isFile()) return { path: file, problem: 'noFile' };
      if (onlyEnd) {
        const start = Math.max(0, stats.size - MAX_FILE_SIZE);
        return { path, bytes: await readUpTo(handle, start), isCut: start > 0 };
      }
      const bytes = await readUpTo(handle);
      return bytes.length > MAX_FILE_SIZE ? { path: file, problem: 'tooLarge' } : { path, bytes };
    } finally {
      await handle.close();
    }
  } catch (error) {
    const { code } = fieldsOf(error);
    return { path: file, ...(code === 'ENOENT' || code === 'ENOTDIR' ? {} : { problem: 'unreadable' }) };
  }
}

/**
 * Opens a file. This neither waits for the other end of a FIFO nor follows a link, because the file may have been replaced since it was
 * checked.
 */
export async function openUserFile(file: string): Promise<FileHandle> {
  const { O_RDONLY, O_NONBLOCK, O_NOFOLLOW } = constants;
  return await open(file, process.platform === 'win32' ? 'r' : O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
}

/**
 * Reads at most one byte more than `maxSize`, so that the caller notices a file that is too large. The size that the system reports may
 * be wrong by now, and is 0 for files of `/proc`.
 */
export async function readUpTo(handle: FileHandle, start = 0, maxSize = MAX_FILE_SIZE): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  while (length <= maxSize) {
    const buffer = Buffer.alloc(Math.min(64 * 1024, maxSize + 1 - length));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, start + length);
    if (bytesRead === 0) break;
    chunks.push(buffer.subarray(0, bytesRead));
    length += bytesRead;
  }
  return Buffer.concat(chunks);
}

/**
 * Reads a file that the user has chosen, such as a SQL script, which may be large and a link to anywhere.
 * @param maxSize the most bytes that are read; by default, what a text can have
 * @throws {Error} if the file is larger, or isn't a file, but for example a device that never ends
 */
export async function readChosenFile(file: string, maxSize = MAX_STRING_LENGTH): Promise<Buffer> {
  const { O_RDONLY, O_NONBLOCK } = constants;
  const handle = await open(file, process.platform === 'win32' ? 'r' : O_RDONLY | O_NONBLOCK);
  try {
    if (!(await handle.stat()).isFile()) throw new Error(`${file} isn't a file`);
    const bytes = await readUpTo(handle, 0, maxSize);
    if (bytes.length > maxSize) throw new Error(`${file} is larger than ${maxSize} bytes`);
    return bytes;
  } finally {
    await handle.close();
  }
}

/** Returns the JSON object in a file that only this user can write, or {} if there is none, such as for a link. */
export function readOwnJson(file: string): Readonly<Record<string, unknown>> {
  try {
    return readOwnJsonFile(file);
  } catch {
    return {};
  }
}

/** Returns the JSON object in a file that only this user can write. @throws {Error} for a link and any other file */
export function readOwnJsonFile(file: string): Readonly<Record<string, unknown>> {
  const stat = lstatSync(file);
  const isOwn = process.getuid === undefined || (stat.uid === process.getuid() && (stat.mode & 0o022) === 0);
  if (!stat.isFile() || !isOwn) throw new Error(`${file} isn't a file that only its user can write`);
  return fieldsOf(JSON.parse(readFileSync(file, 'utf8')));
}
