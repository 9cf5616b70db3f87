/** Reads a .vsix file, which is a zip archive, from its central directory. */
import { crc32, inflateRawSync } from 'node:zlib';

export interface ZipEntry {
  readonly name: string;
  /** File type and permissions, as on Unix. */
  readonly mode: number;
  readonly bytes: Buffer;
}

const END = 0x06054b50;
const DEFLATED = 8;

export function readZip(zip: Buffer): ZipEntry[] {
  const end = zip.lastIndexOf(Buffer.from([0x50, 0x4b, 0x05, 0x06]));
  if (end < 0 || zip.readUInt32LE(end) !== END) throw new Error('Not a zip archive');
  let at = zip.readUInt32LE(end + 16);
  return Array.from({ length: zip.readUInt16LE(end + 10) }, () => {
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((offset) =>
      zip.readUInt16LE(at + offset),
    );
    const name = zip.toString('utf8', at + 46, at + 46 + (nameLength ?? 0));
    const mode = zip.readUInt32LE(at + 38) >>> 16;
    const bytes = content(zip, at, name);
    at += 46 + (nameLength ?? 0) + (extraLength ?? 0) + (commentLength ?? 0);
    return { name, mode, bytes };
  });
}

/** @param at the entry in the central directory */
function content(zip: Buffer, at: number, name: string): Buffer {
  const header = zip.readUInt32LE(at + 42);
  const start = header + 30 + zip.readUInt16LE(header + 26) + zip.readUInt16LE(header + 28);
  const stored = zip.subarray(start, start + zip.readUInt32LE(at + 20));
  const bytes = zip.readUInt16LE(at + 10) === DEFLATED ? inflateRawSync(stored) : stored;
  if (crc32(bytes) !== zip.readUInt32LE(at + 16)) throw new Error(`${name} is damaged`);
  return bytes;
}
