/**
 * Reads a journal after any end of the service. A line is on disk before the next begins, so only the last one can be
 * unfinished. No client has seen it, so it is left out. Any other line with a wrong checksum is damage. Zeros at the end
 * are reserved space.
 */
import { readFileSync } from 'node:fs';
import { DataError } from './dataError.ts';
import { checksum, CHECKSUM_LENGTH, FORMAT } from './journal.ts';
import type { Change } from './storedRecords.ts';

/** The smallest block that a disk writes as a whole; zeros if a power cut lost it. */
const LOST_BLOCK = Buffer.alloc(512);

export interface JournalContents {
  readonly changes: readonly Change[];
  /** Bytes up to the end of the last good line. */
  readonly goodBytes: number;
  /** Bytes of the unfinished line after it. */
  readonly tornBytes: number;
}

/** Returns undefined if there is no journal yet. @throws {DataError} if it is damaged or has a newer format */
export function readJournal(file: string): JournalContents | undefined {
  const bytes = readIfPresent(file);
  if (bytes === undefined) return undefined;
  const [header, ...lines] = goodLines(bytes);
  if (header === undefined) throw damaged(file, 'its header is not readable');
  requireFormat(header.value, file);
  const goodBytes = lines.at(-1)?.end ?? header.end;
  const rest = bytes.subarray(goodBytes, bytes.findLastIndex((byte) => byte !== 0) + 1);
  if (rest.length > 0 && !isTornLine(rest))
    throw damaged(file, `the checksum of the line at byte ${goodBytes} is wrong`);
  // The checksum proves that this program wrote these bytes.
  const changes = lines.flatMap((line) => line.value as Change[]);
  return { changes, goodBytes, tornBytes: rest.length };
}

/** Yields the lines before the first unreadable one. */
function* goodLines(bytes: Buffer): Iterable<{ value: unknown; end: number }> {
  for (let start = 0; start < bytes.length;) {
    const newline = bytes.indexOf(10, start);
    const value = newline === -1 ? undefined : decodeLine(bytes.subarray(start, newline));
    if (value === undefined) return;
    yield { value, end: newline + 1 };
    start = newline + 1;
  }
}

/**
 * Whether a crash or a power cut can have left these bytes: a line whose end, beginning or blocks in between never reached
 * the disk, in any order. A damaged line is complete: its newline is there, or is the changed byte.
 */
function isTornLine(rest: Buffer): boolean {
  const newline = rest.indexOf(10);
  if (newline === -1) return decodeLine(rest.subarray(0, -1)) === undefined;
  return newline === rest.length - 1 && (rest[0] === 0 || rest.includes(LOST_BLOCK));
}

function decodeLine(line: Buffer): unknown {
  const json = line.subarray(CHECKSUM_LENGTH + 1);
  const head = line.toString('latin1', 0, CHECKSUM_LENGTH + 1);
  return head === `${checksum(json)} ` ? JSON.parse(json.toString()) : undefined;
}

/** @throws {DataError} */
function requireFormat(header: unknown, file: string): void {
  const format =
    typeof header === 'object' && header !== null && 'format' in header ? header.format : undefined;
  if (typeof format !== 'number') throw damaged(file, 'its header has no format');
  if (format === FORMAT) return;
  throw new DataError(
    'newerFormat',
    `${file} was written by a newer version of this service (format ${format}; this version reads ${FORMAT}). Use that version.`,
  );
}

const damaged = (file: string, how: string): DataError =>
  new DataError('corrupt', `${file} is damaged: ${how}. It was not changed. Restore it from a backup.`);

function readIfPresent(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
