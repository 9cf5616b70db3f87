/**
 * Reads the records of the write-ahead log (WAL) to find a moment in it: Postgres itself would fail to recover to a time after the
 * last commit. The format is that of src/include/access/{xlogrecord,xlog_internal}.h, the same in all versions that the service
 * supports; each record names the one before it, so a misread record isn't taken for the next one.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Wal } from './walFiles.ts';

export const PAGE = 8192;
/** The bytes of the header of a page, which is longer in the first one of a segment, and of a record. */
export const [LONG_HEADER, SHORT_HEADER, RECORD_HEADER] = [40, 24, 24];
/** Flags of a page: it begins with the rest of a record; it doesn't begin with that, because a crash interrupted the record. */
const [CONTINUED, INTERRUPTED] = [0x1, 0x8];
/** The numbers of resource managers. */
export const WAL_MANAGERS = {
  xlog: 0,
  transaction: 1,
  relationMap: 7,
  standby: 8,
  heap2: 9,
  heap: 10,
  storage: 2,
} as const;
const SWITCH = 0x40;
/**
 * The offset of the time in the data of a record, by the kind of the record. In this order, the kinds are: a commit, an abort, a
 * commit and an abort of a prepared transaction, and the preparation of a transaction.
 */
const TIMES_OF_TRANSACTIONS: ReadonlyMap<number, number> = new Map([
  [0x00, 0],
  [0x20, 0],
  [0x30, 0],
  [0x40, 0],
  [0x10, 16],
]);
/** The most bytes of a record that are read. No record of a table is as long. */
const MAX_RECORD = 8 * 1024 * 1024;

/** Microseconds from 1970 to 2000, from which Postgres counts. */
const EPOCH = 946_684_800_000_000;

/** One record of the WAL. */
export interface WalRecord {
  readonly start: number;
  readonly manager: number;
  /** What was done, as a number whose meaning depends on the manager. */
  readonly info: number;
  /** The id of the transaction; 0 without one. */
  readonly xid: number;
  /** The record with its header; incomplete if it is too long. */
  readonly bytes: Buffer;
  /** The position where the next record is looked for. */
  readonly end: number;
  /** When a transaction ended or was prepared, in microseconds since 1970. */
  readonly time?: number;
}

/** Yields the records from a position, which must be that of a record, up to the first one that is incomplete. */
export function* readWalRecords(wal: Wal, from: number): Generator<WalRecord> {
  const reader = new Reader(wal);
  let previous: number | undefined;
  for (let at = from; ;) {
    const start = startOfRecord(wal, at);
    const record = reader.record(start);
    if (record === undefined) return;
    if ('interruptedAt' in record) {
      at = record.interruptedAt;
      continue;
    }
    const { bytes, end } = record;
    if (previous !== undefined && Number(bytes.readBigUInt64LE(8)) !== previous) return;
    previous = start;
    const [info, manager] = [bytes.readUInt8(16), bytes.readUInt8(17)];
    const isSwitch = manager === WAL_MANAGERS.xlog && (info & 0xf0) === SWITCH;
    const position =
      manager === WAL_MANAGERS.transaction ? TIMES_OF_TRANSACTIONS.get(info & 0x70) : undefined;
    const time = position === undefined ? undefined : readTime(bytes, position);
    // Records begin at multiples of 8. The rest of a segment after a switch is empty.
    at = isSwitch ? Math.ceil(end / wal.size) * wal.size : Math.ceil(end / 8) * 8;
    const xid = bytes.readUInt32LE(4);
    yield { start, end: at, manager, info, xid, bytes, ...(time !== undefined && { time }) };
  }
}

/** Whether the record at `from` continues after `end`. Postgres may flush the WAL up to the end of a page in the middle of a record. */
export function reachesBeyond(wal: Wal, from: number, end: number): boolean {
  const start = startOfRecord(wal, from);
  let available = end - start;
  for (let page = start - (start % PAGE) + PAGE; page < end; page += PAGE) available -= headerSize(wal, page);
  return new Reader(wal).lengthAt(start) > available;
}

/** Returns where the record begins that follows one with this end: there, or after the header of the page that begins there. */
export const startOfRecord = (wal: Wal, end: number): number =>
  end % PAGE === 0 ? end + headerSize(wal, end) : end;

const headerSize = (wal: Wal, page: number) => (page % wal.size === 0 ? LONG_HEADER : SHORT_HEADER);

class Reader {
  readonly #wal: Wal;
  #loaded: { readonly segment: number; readonly bytes: Buffer } | undefined;

  constructor(wal: Wal) {
    this.#wal = wal;
  }

  /** Returns the length of the record at the position; 0 without a record. */
  lengthAt(start: number): number {
    const page = start - (start % PAGE);
    return this.page(page) === undefined ? 0 : this.#bytes(start, 4).readUInt32LE();
  }

  /** Returns the record at the position; undefined if it isn't complete. */
  record(start: number) {
    const length = this.lengthAt(start);
    if (length < RECORD_HEADER) return undefined;
    const parts: Buffer[] = [];
    let [at, left, kept] = [start, length, 0];
    while (left > 0) {
      if (at % PAGE === 0) {
        const header = this.page(at);
        if (header === undefined) return undefined;
        if ((header.flags & INTERRUPTED) !== 0) return { interruptedAt: at };
        if ((header.flags & CONTINUED) === 0 || header.left !== left) return undefined;
        at += headerSize(this.#wal, at);
      }
      const count = Math.min(left, PAGE - (at % PAGE));
      if (kept < MAX_RECORD) parts.push(this.#bytes(at, count));
      kept += count;
      at += count;
      left -= count;
    }
    const [first] = parts;
    // Most records are on one page, and not copied.
    return { bytes: parts.length === 1 && first ? first : Buffer.concat(parts), end: at };
  }

  /** Reads the header of a page. @returns undefined for a page that was not written yet */
  page(at: number) {
    if (!this.#load(at)) return undefined;
    const header = this.#bytes(at, SHORT_HEADER);
    if (Number(header.readBigUInt64LE(8)) !== at) return undefined;
    return { flags: header.readUInt16LE(2), left: header.readUInt32LE(16) };
  }

  #bytes(at: number, count: number): Buffer {
    const offset = at % this.#wal.size;
    return (this.#loaded?.bytes ?? Buffer.alloc(0)).subarray(offset, offset + count);
  }

  /** Reads the segment of a position, unless it was the last one that was read. @returns whether the segment is whole */
  #load(at: number): boolean {
    const segment = this.#wal.segmentAt(at);
    if (this.#loaded?.segment !== segment) {
      const name = this.#wal.fileOf(segment);
      if (!this.#wal.files.has(name)) return false;
      this.#loaded = { segment, bytes: readFileSync(path.join(this.#wal.folder, name)) };
    }
    return this.#loaded.bytes.length === this.#wal.size;
  }
}

/** Returns the position of the first record that begins in a segment; undefined if none does. */
export function findFirstRecord(wal: Wal, segment: number): number | undefined {
  const reader = new Reader(wal);
  const end = (segment + 1) * wal.size;
  for (let page = segment * wal.size; page < end; page += PAGE) {
    const header = reader.page(page);
    if (header === undefined) return undefined;
    if ((header.flags & CONTINUED) === 0) return page;
    const rest = headerSize(wal, page) + header.left;
    if (rest < PAGE) return page + Math.ceil(rest / 8) * 8;
  }
  return undefined;
}

/**
 * Reads the time in the data of a record. The parts before the data begin with a byte that says what they are; the length is the last
 * one.
 */
function readTime(bytes: Buffer, position: number): number | undefined {
  for (let at = RECORD_HEADER; at < bytes.length;) {
    const kind = bytes.readUInt8(at);
    if (kind === 253) at += 3;
    else if (kind === 252) at += 5;
    else if (kind === 255 || kind === 254)
      return Number(bytes.readBigInt64LE(at + (kind === 255 ? 2 : 5) + position)) + EPOCH;
    else return undefined;
  }
  return undefined;
}
