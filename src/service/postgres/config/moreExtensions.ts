/**
 * A folder of extensions that the user has chosen: control files and scripts in `extension`, libraries in `lib`. Their code runs
 * in the servers, so it must fit them, and no other user may be able to change it.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { FIRST_WITH_PATHS, MODULE_SUFFIXES } from './ownerExtensions.ts';
import type { Binaries } from './programs.ts';
import type { Settings } from './settings.ts';
import { changeableByOthers, realPath } from './trustedPath.ts';

interface MoreExtensions {
  /** Names of the extensions; empty if the folder isn't used. */
  readonly names: readonly string[];
  /** The folder without links. */
  readonly folder: string;
  /** Why it isn't used. */
  readonly problem?: string;
}

/** Reads every library of the folder. */
export function moreExtensions(chosen: string, { major }: Pick<Binaries, 'major'>): MoreExtensions {
  const folder = realPath(chosen) ?? chosen;
  try {
    const scripts = filesIn(path.join(folder, 'extension'));
    const libraries = filesIn(path.join(folder, 'lib'));
    const names = scripts
      .filter((file) => file.endsWith('.control'))
      .map((file) => path.basename(file, '.control'));
    const problem =
      (major < FIRST_WITH_PATHS && `Postgres ${major} can't read them, only ${FIRST_WITH_PATHS} and newer`) ||
      (names.length === 0 && `${path.join(folder, 'extension')} has no .control files`) ||
      (folder.includes(path.delimiter) && `its path contains "${path.delimiter}"`) ||
      whoChanges([...scripts, ...libraries]) ||
      misfit(libraries, major);
    return problem ? { names: [], folder, problem } : { names, folder };
  } catch (error) {
    return { names: [], folder, problem: error instanceof Error ? error.message : String(error) };
  }
}

/** The packaged extensions and libraries come first, so that the folder can't replace them. */
export function withFolder(settings: Settings, folder: string): Settings {
  const { extension_control_path: own = '$system' } = settings;
  return {
    ...settings,
    extension_control_path: [own, folder].join(path.delimiter),
    dynamic_library_path: ['$libdir', path.join(folder, 'lib')].join(path.delimiter),
  };
}

/** Without links. @throws the system's error if the folder can't be read */
const filesIn = (folder: string): string[] =>
  readdirSync(folder).map((name) => realPath(path.join(folder, name)) ?? path.join(folder, name));

function whoChanges(files: readonly string[]): string | undefined {
  const changeable = files.map(changeableByOthers).find((part) => part !== undefined);
  return changeable && `other users can change ${changeable}`;
}

function misfit(libraries: readonly string[], major: number): string | undefined {
  for (const file of libraries.filter((each) => MODULE_SUFFIXES.includes(path.extname(each)))) {
    const library = readFileSync(file);
    const machines = machinesOf(library);
    if (!machines.includes(`${process.platform} ${process.arch}`))
      return `${file} isn't for ${process.platform} ${process.arch}`;
    const built = majorOfModule(library);
    // A library without the block is used by others, or Postgres refuses to load it.
    if (built !== undefined && built !== major) return `${file} is for Postgres ${built}, not ${major}`;
  }
  return undefined;
}

/** By number in the headers of ELF, PE and Mach-O. */
const ELF: Readonly<Record<number, string>> = { 62: 'x64', 183: 'arm64' };
const PE: Readonly<Record<number, string>> = { 0x8664: 'x64', 0xaa64: 'arm64' };
const MACH_O: Readonly<Record<number, string>> = { 0x01000007: 'x64', 0x0100000c: 'arm64' };

/** @returns such as `linux x64`; several for a universal library of macOS. Empty if it is no library @throws {RangeError} if it is cut */
export function machinesOf(library: Buffer): string[] {
  const start = library.readUInt32BE(0);
  if (start === 0x7f454c46) return [`linux ${ELF[library.readUInt16LE(18)]}`];
  if (start >>> 16 === 0x4d5a) return [`win32 ${PE[library.readUInt16LE(library.readUInt32LE(0x3c) + 4)]}`];
  if (start === 0xcffaedfe) return [`darwin ${MACH_O[library.readUInt32LE(4)]}`];
  if (start !== 0xcafebabe) return [];
  return Array.from({ length: library.readUInt32BE(4) }, (_, index) =>
    library.readUInt32BE(8 + 20 * index),
  ).map((type) => `darwin ${MACH_O[type]}`);
}

/**
 * The major version in the block by which Postgres recognizes its modules (`Pg_abi_values` in `fmgr.h`): the version, four
 * build options, and the name of the product.
 */
export function majorOfModule(library: Buffer): number | undefined {
  const [options, name] = [4 * 4, Buffer.from('PostgreSQL\0')];
  for (let at = library.indexOf(name); at !== -1; at = library.indexOf(name, at + 1)) {
    const block = at - options - 4;
    if (block >= 0 && library.readInt32LE(block + 4) === 100 && library.readInt32LE(block + 8) === 32)
      return Math.floor(library.readInt32LE(block) / 100);
  }
  return undefined;
}
