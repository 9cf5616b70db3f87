/** Changes the times of transactions in a write-ahead log, as if the clock of the machine had been wrong while they ended. */
import { chownSync, copyFileSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Wal } from '../../../../../src/service/postgres/wal/walFiles.ts';
import { readWalRecords, type WalRecord } from '../../../../../src/service/postgres/wal/walRecords.ts';

const PAGE = 8192;
const [HEADER, CHECKSUM] = [24, 20];
/** Microseconds from 1970 to 2000. */
const EPOCH = 946_684_800_000_000;

interface Period {
  /** Positions: `start` is one of a record. */
  readonly start: number;
  readonly from: number;
  readonly to: number;
}

/** @param by microseconds. No server may run on the data. */
export function setClock(dataDir: string, { start, from, to }: Period, by: number): void {
  const wal = new Wal(dataDir);
  const records = [...readWalRecords(wal, start)].filter(
    (record) => record.time !== undefined && record.start >= from && record.start < to,
  );
  const files = new Map<string, Buffer>();
  for (const record of records) {
    const bytes = withTime(record, (record.time ?? 0) + by);
    for (const [index, at] of positionsOf(record.start, bytes.length, wal.size).entries()) {
      const name = path.join(wal.folder, wal.fileOf(wal.segmentAt(at)));
      const content = files.get(name) ?? readFileSync(name);
      files.set(name, content);
      content.writeUInt8(bytes.readUInt8(index), at % wal.size);
    }
  }
  for (const [name, content] of files) replace(name, content);
}

/** Branches share files. */
function replace(name: string, content: Buffer): void {
  const { uid, gid } = statSync(name);
  copyFileSync(name, `${name}.new`);
  chownSync(`${name}.new`, uid, gid);
  writeFileSync(`${name}.new`, content);
  renameSync(`${name}.new`, name);
}

function withTime({ bytes, time = 0 }: WalRecord, changed: number): Buffer {
  const result = Buffer.from(bytes);
  const [before, after] = [time, changed].map((each) => {
    const text = Buffer.alloc(8);
    text.writeBigInt64LE(BigInt(each - EPOCH));
    return text;
  });
  after?.copy(result, result.indexOf(before ?? '', HEADER));
  // The checksum is of the content, and then of the header before it.
  result.writeUInt32LE(
    crc32c(Buffer.concat([result.subarray(HEADER), result.subarray(0, CHECKSUM)])),
    CHECKSUM,
  );
  return result;
}

/** Where the bytes of a record are: a page begins with a header. */
function positionsOf(start: number, length: number, segment: number): number[] {
  const positions: number[] = [];
  for (let at = start; positions.length < length; at += 1) {
    if (at % PAGE === 0) at += at % segment === 0 ? 40 : 24;
    positions.push(at);
  }
  return positions;
}

function crc32c(bytes: Buffer): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
  }
  return ~crc >>> 0;
}
