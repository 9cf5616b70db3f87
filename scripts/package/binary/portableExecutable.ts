/** Reads a Portable Executable (Windows): for which processor it is, and which libraries the loader looks for. */
import type { Binary } from './binary.ts';

const MACHINES: Readonly<Record<number, string>> = { 0x8664: 'x64', 0xaa64: 'arm64' };

/** Directories of a 64-bit file that name libraries: index, size of an entry, and where an entry has the name's address. */
const IMPORTS = { index: 1, entrySize: 20, name: 12 } as const;
const DELAYED_IMPORTS = { index: 13, entrySize: 32, name: 4 } as const;

const DIRECTORIES_OFFSET = 112;

export const isPortableExecutable = (bytes: Buffer): boolean => bytes.toString('latin1', 0, 2) === 'MZ';

export function readPortableExecutable(bytes: Buffer): Binary {
  const header = bytes.readUInt32LE(0x3c);
  const libraries = [IMPORTS, DELAYED_IMPORTS].flatMap((directory) => namesIn(bytes, header, directory));
  return {
    system: 'win32',
    architectures: [MACHINES[bytes.readUInt16LE(header + 4)] ?? 'unknown'],
    libraries,
  };
}

function namesIn(
  bytes: Buffer,
  header: number,
  { index, entrySize, name }: typeof IMPORTS | typeof DELAYED_IMPORTS,
): string[] {
  const address = bytes.readUInt32LE(header + 24 + DIRECTORIES_OFFSET + index * 8);
  if (address === 0) return [];
  const names: string[] = [];
  for (let entry = fileOffset(bytes, header, address); ; entry += entrySize) {
    const nameAddress = bytes.readUInt32LE(entry + name);
    if (nameAddress === 0) return names;
    const start = fileOffset(bytes, header, nameAddress);
    names.push(bytes.toString('latin1', start, bytes.indexOf(0, start)).toLowerCase());
  }
}

function fileOffset(bytes: Buffer, header: number, address: number): number {
  const sections = header + 24 + bytes.readUInt16LE(header + 20);
  for (let index = 0; index < bytes.readUInt16LE(header + 6); index += 1) {
    const section = sections + index * 40;
    const [start, size, offset] = [12, 16, 20].map((at) => bytes.readUInt32LE(section + at));
    if (start === undefined || size === undefined || offset === undefined) break;
    if (address >= start && address < start + size) return offset + address - start;
  }
  throw new Error(`No section has the address ${address}`);
}
