/**
 * The format of the journal: lines of a checksum (CRC-32, hexadecimal), a space and JSON. The first line is the
 * header, every other one an array of changes that was made durable as a whole. A line is on disk before the next is
 * begun, so only the last can be unfinished: It was never answered for and is left out. Any other line that fails
 * its checksum is damage. Zeros at the end are room that was reserved.
 */
import { readFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { StartFailure } from '../core/systemReason.ts';
import type { Change } from './storedRecords.ts';

/** Raised when an older program could not read what this one writes. */
export const FORMAT = 1;

/** Characters of a line's checksum, which a space follows. */
const CHECKSUM_LENGTH = 8;

/** The smallest block that a disk writes whole, as it reads where the write was lost: nothing else was there before. */
const LOST_BLOCK = Buffer.alloc(512);

/** A line holds at most so many changes of a snapshot, so that no single string becomes huge. */
const CHANGES_PER_LINE = 1000;

export interface JournalContents {
  readonly changes: readonly Change[];
  /** Bytes up to the end of the last good line. */
  readonly goodBytes: number;
  /** Bytes after them, of a line that was being written when the service died. */
  readonly tornBytes: number;
}

export function encodeLine(value: unknown): Buffer {
  const line = Buffer.from(`${' '.repeat(CHECKSUM_LENGTH)} ${JSON.stringify(value)}\n`);
  line.write(checksum(line.subarray(CHECKSUM_LENGTH + 1, -1)), 'latin1');
  return line;
}

export function* encodeSnapshot(changes: Iterable<Change>): Iterable<Buffer> {
  yield encodeLine({ format: FORMAT });
  let line: Change[] = [];
  for (const change of changes) {
    if (line.push(change) < CHANGES_PER_LINE) continue;
    yield encodeLine(line);
    line = [];
  }
  if (line.length > 0) yield encodeLine(line);
}

/** @throws {StartFailure} for a newer format or damage. @returns undefined when there is no journal yet */
export function readJournal(file: string): JournalContents | undefined {
  const bytes = readIfPresent(file);
  if (bytes === undefined) return undefined;
  const [header, ...lines] = goodLines(bytes);
  if (header === undefined) throw damaged(file, 'its header cannot be read');
  requireFormat(header.value, file);
  const goodBytes = lines.at(-1)?.end ?? header.end;
  const rest = bytes.subarray(goodBytes, bytes.findLastIndex((byte) => byte !== 0) + 1);
  if (rest.length > 0 && !isUnfinished(rest))
    throw damaged(file, `the line at byte ${goodBytes} fails its checksum`);
  // The checksum says that these bytes are the ones this program wrote.
  const changes = lines.flatMap((line) => line.value as Change[]);
  return { changes, goodBytes, tornBytes: rest.length };
}

/** The lines up to the first that cannot be read. */
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
 * Whether a crash or a power cut can have left this: a line of which the end, the beginning or blocks in between never
 * reached the disk, in any order. A damaged line has all its bytes, one newline among them or a changed one.
 */
function isUnfinished(rest: Buffer): boolean {
  const newline = rest.indexOf(10);
  if (newline === -1) return decodeLine(rest.subarray(0, -1)) === undefined;
  return newline === rest.length - 1 && (rest[0] === 0 || rest.includes(LOST_BLOCK));
}

function decodeLine(line: Buffer): unknown {
  const json = line.subarray(CHECKSUM_LENGTH + 1);
  const head = line.toString('latin1', 0, CHECKSUM_LENGTH + 1);
  return head === `${checksum(json)} ` ? JSON.parse(json.toString()) : undefined;
}

const checksum = (bytes: Buffer): string => crc32(bytes).toString(16).padStart(CHECKSUM_LENGTH, '0');

function requireFormat(header: unknown, file: string): void {
  const format =
    typeof header === 'object' && header !== null && 'format' in header ? header.format : undefined;
  if (typeof format !== 'number') throw damaged(file, 'its header names no format');
  if (format <= FORMAT) return;
  throw new StartFailure(
    'newerFormat',
    `${file} was written by a newer version of this service (format ${format}, this one knows ${FORMAT}). Use that version.`,
  );
}

const damaged = (file: string, how: string): StartFailure =>
  new StartFailure('corrupt', `${file} is damaged: ${how}. Nothing was changed; restore it from a backup.`);

function readIfPresent(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
