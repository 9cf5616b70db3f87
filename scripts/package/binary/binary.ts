/** Reads the header of a program or library of any of the supported systems. */
import { isElf, readElf } from './elf.ts';
import { isMachO, readMachO } from './machO.ts';
import { isPortableExecutable, readPortableExecutable } from './portableExecutable.ts';

export interface Binary {
  readonly system: NodeJS.Platform;
  /** As in `process.arch`. A file for macOS may contain several. */
  readonly architectures: readonly string[];
  /** What the loader looks for, as written in the file: names, or paths on macOS. Lower case for Windows. */
  readonly libraries: readonly string[];
}

/** @returns undefined if it is another kind of file */
export function readBinary(bytes: Buffer): Binary | undefined {
  if (isElf(bytes)) return readElf(bytes);
  if (isMachO(bytes)) return readMachO(bytes);
  if (isPortableExecutable(bytes)) return readPortableExecutable(bytes);
  return undefined;
}
