/**
 * Reads a Mach-O file (macOS): for which processors it is, and which libraries the loader looks for. A "fat" file contains one
 * slice for each processor. Each slice is a complete file with its own code signature, so that it can be cut out as it is.
 */
import { createHash } from 'node:crypto';
import type { Binary } from './binary.ts';

const FAT = 0xcafebabe;
const THIN = 0xfeedfacf;
const PROCESSORS: Readonly<Record<number, string>> = { 0x01000007: 'x64', 0x0100000c: 'arm64' };

/** Load commands that name a library: required, weak, re-exported, upward. */
const LIBRARY_COMMANDS = new Set([0x0c, 0x80000018, 0x8000001f, 0x80000023]);
const CODE_SIGNATURE = 0x1d;

interface Slice {
  readonly architecture: string;
  readonly bytes: Buffer;
}

export const isMachO = (bytes: Buffer): boolean =>
  bytes.length >= 8 && (bytes.readUInt32BE(0) === FAT || bytes.readUInt32LE(0) === THIN);

export function readMachO(bytes: Buffer): Binary {
  const slices = slicesOf(bytes);
  return {
    system: 'darwin',
    architectures: slices.map(({ architecture }) => architecture),
    libraries: [...new Set(slices.flatMap((slice) => librariesOf(slice.bytes)))],
  };
}

/** Returns the part for one processor, as a complete file. */
export function sliceOf(bytes: Buffer, architecture: string): Buffer {
  const slice = slicesOf(bytes).find((each) => each.architecture === architecture);
  if (slice === undefined) throw new Error(`No slice for ${architecture}`);
  return slice.bytes;
}

function slicesOf(bytes: Buffer): Slice[] {
  const nameOf = (processor: number) => PROCESSORS[processor] ?? 'unknown';
  if (bytes.readUInt32BE(0) !== FAT) return [{ architecture: nameOf(bytes.readUInt32LE(4)), bytes }];
  return Array.from({ length: bytes.readUInt32BE(4) }, (_, index) => {
    const at = 8 + index * 20;
    const [offset, size] = [bytes.readUInt32BE(at + 8), bytes.readUInt32BE(at + 12)];
    return { architecture: nameOf(bytes.readUInt32BE(at)), bytes: bytes.subarray(offset, offset + size) };
  });
}

/** @returns the load commands of a slice, each with its own bytes */
function commandsOf(slice: Buffer): { readonly command: number; readonly bytes: Buffer }[] {
  let at = 32;
  return Array.from({ length: slice.readUInt32LE(16) }, () => {
    const bytes = slice.subarray(at, at + slice.readUInt32LE(at + 4));
    at += bytes.length;
    return { command: bytes.readUInt32LE(0), bytes };
  });
}

function librariesOf(slice: Buffer): string[] {
  return commandsOf(slice)
    .filter(({ command }) => LIBRARY_COMMANDS.has(command))
    .map(({ bytes }) => bytes.toString('utf8', bytes.readUInt32LE(8)).replace(/\0.*$/s, ''));
}

const DIRECTORY_MAGIC = 0xfade0c02;
const SHA256 = 2;

/**
 * Returns whether each page of a thin file has the SHA-256 that its code signature states. macOS ends a program with any
 * other page, so this shows that the file was cut out correctly. The certificate is not checked.
 */
export function matchesSignature(thin: Buffer): boolean {
  const command = commandsOf(thin).find((each) => each.command === CODE_SIGNATURE);
  if (command === undefined) return false;
  const signature = thin.subarray(command.bytes.readUInt32LE(8));
  const parts = Array.from({ length: signature.readUInt32BE(8) }, (_, index) =>
    signature.subarray(signature.readUInt32BE(12 + index * 8 + 4)),
  );
  const directory = parts.find((part) => part.readUInt32BE(0) === DIRECTORY_MAGIC && part[37] === SHA256);
  return directory !== undefined && hasStatedHashes(thin, directory);
}

function hasStatedHashes(thin: Buffer, directory: Buffer): boolean {
  const [hashes, count, limit] = [16, 28, 32].map((at) => directory.readUInt32BE(at));
  const pageSize = 2 ** (directory[39] ?? 0);
  if (hashes === undefined || count === undefined || limit === undefined || count === 0) return false;
  return Array.from({ length: count }, (_, index) => {
    const page = thin.subarray(index * pageSize, Math.min((index + 1) * pageSize, limit));
    const stated = directory.subarray(hashes + index * 32, hashes + (index + 1) * 32);
    return createHash('sha256').update(page).digest().equals(stated);
  }).every(Boolean);
}
