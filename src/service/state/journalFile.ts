/**
 * The format of the journal: lines of a checksum (CRC-32, hexadecimal), a space and JSON. The first line is the
 * header, every other one an array of changes that was made durable as a whole. A last line that is torn or
 * fails its checksum was never answered for and is left out; a bad line before others is damage. Zeros at the end
 * are room that was reserved.
 */
import { readFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { StartFailure } from '../startFailure.ts';
import type { Change } from './storedRecords.ts';

/** Raised when an older program could not read what this one writes. */
export const FORMAT = 1;

/** Characters of a line's checksum, which a space follows. */
const CHECKSUM_LENGTH = 8;

/** A line holds at most so many changes of a snapshot, so that no single string becomes huge. */
const CHANGES_PER_LINE = 1000;

export interface JournalContents {
  readonly changes: readonly Change[];
  /** Bytes up to the end of the last good line. */
  readonly goodBytes: number;
  /** Bytes behind them, of a line that was being written when the service died. */
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
  const lines = [...goodLines(bytes, file)];
  const header = lines.shift();
  if (header === undefined) throw damaged(file, 'its header cannot be read');
  requireFormat(header.value, file);
  const goodBytes = lines.at(-1)?.end ?? header.end;
  // The checksum says that these bytes are the ones this program wrote.
  const changes = lines.flatMap((line) => line.value as Change[]);
  return { changes, goodBytes, tornBytes: isBlank(bytes, goodBytes) ? 0 : bytes.length - goodBytes };
}

function* goodLines(bytes: Buffer, file: string): Iterable<{ value: unknown; end: number }> {
  for (let start = 0; start < bytes.length;) {
    const newline = bytes.indexOf(10, start);
    const end = newline === -1 ? bytes.length : newline + 1;
    const value = newline === -1 ? undefined : decodeLine(bytes.subarray(start, newline));
    if (value === undefined) {
      if (isBlank(bytes, end)) return;
      throw damaged(file, `the line at byte ${start} fails its checksum`);
    }
    yield { value, end };
    start = end;
  }
}

const isBlank = (bytes: Buffer, from: number): boolean => bytes.subarray(from).every((byte) => byte === 0);

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
