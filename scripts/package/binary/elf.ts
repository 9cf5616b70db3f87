/** Reads an ELF file (Linux): for which processor it is, and which libraries the loader looks for. */
import type { Binary } from './binary.ts';

const MACHINES: Readonly<Record<number, string>> = { 62: 'x64', 183: 'arm64' };

const LOAD = 1;
const DYNAMIC = 2;
const NEEDED = 1n;
const STRING_TABLE = 5n;

interface Segment {
  readonly type: number;
  readonly offset: number;
  readonly address: number;
  readonly size: number;
}

export const isElf = (bytes: Buffer): boolean =>
  bytes.subarray(0, 6).equals(Buffer.from('\x7fELF\x02\x01', 'latin1'));

export function readElf(bytes: Buffer): Binary {
  const segments = readSegments(bytes);
  const entries = dynamicEntries(bytes, segments);
  const table = entries.find(({ tag }) => tag === STRING_TABLE)?.value ?? 0;
  const strings = fileOffset(segments, table);
  const libraries = entries
    .filter(({ tag }) => tag === NEEDED)
    .map(({ value }) => stringAt(bytes, strings + value));
  return { system: 'linux', architectures: [MACHINES[bytes.readUInt16LE(18)] ?? 'unknown'], libraries };
}

function readSegments(bytes: Buffer): Segment[] {
  const table = Number(bytes.readBigUInt64LE(32));
  const [entrySize, count] = [bytes.readUInt16LE(54), bytes.readUInt16LE(56)];
  return Array.from({ length: count }, (_, index) => {
    const at = table + index * entrySize;
    const number = (offset: number) => Number(bytes.readBigUInt64LE(at + offset));
    return { type: bytes.readUInt32LE(at), offset: number(8), address: number(16), size: number(32) };
  });
}

function dynamicEntries(bytes: Buffer, segments: readonly Segment[]) {
  const dynamic = segments.find(({ type }) => type === DYNAMIC);
  if (dynamic === undefined) return [];
  return Array.from({ length: dynamic.size / 16 }, (_, index) => {
    const at = dynamic.offset + index * 16;
    return { tag: bytes.readBigUInt64LE(at), value: Number(bytes.readBigUInt64LE(at + 8)) };
  });
}

function fileOffset(segments: readonly Segment[], address: number): number {
  const segment = segments.find(
    (each) => each.type === LOAD && address >= each.address && address < each.address + each.size,
  );
  if (segment === undefined) throw new Error(`No segment has the address ${address}`);
  return segment.offset + address - segment.address;
}

function stringAt(bytes: Buffer, start: number): string {
  return bytes.toString('latin1', start, bytes.indexOf(0, start));
}
