/**
 * Finds extensions that aren't in the package: in a folder that the user has chosen, or in another Postgres on this machine. Their
 * code runs in the servers, so it must fit these, and no other user may be able to change it.
 */
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import { listExtensionNames, FIRST_WITH_CONTROL_PATH, packagedExtensionsFolder } from './ownerExtensions.ts';
import { MODULE_SUFFIXES } from '../server/changeableSettings.ts';
import type { PostgresBinaries } from '../server/programs.ts';
import type { PostgresSettings } from '../server/settings.ts';
import { findChangeableAmong, realPathIfExists } from '../server/trustedPath.ts';

interface ExtensionFolder {
  /** The folder whose subfolder `extension` contains the control files and scripts. */
  readonly share: string;
  /** The folder with the libraries. */
  readonly lib: string;
}

interface MoreExtensions extends ExtensionFolder {
  /** Names of the extensions that the package lacks; empty if the folder isn't used. */
  readonly names: readonly string[];
  /** Why the folder isn't used. */
  readonly problem?: string;
}

/**
 * Where control files and libraries are in a folder: in one made for this, in a default installation, and in those of Arch,
 * Homebrew, Debian and Fedora.
 */
const LAYOUTS = [
  ['.', 'lib'],
  ['share', 'lib'],
  ['share/postgresql', 'lib/postgresql'],
  ['share/postgresql@18', 'lib/postgresql@18'],
  ['share/postgresql/18', 'lib/postgresql/18/lib'],
  ['share/pgsql', 'lib64/pgsql'],
] as const;

const foldersInLayouts = (folder: string): ExtensionFolder[] =>
  LAYOUTS.map(([share, lib]) => ({ share: path.join(folder, share), lib: path.join(folder, lib) }));

/** The folders in which packages and installers put Postgres 18. */
const INSTALLED: readonly ExtensionFolder[] = [
  '/usr',
  '/usr/pgsql-18',
  '/opt/homebrew',
  '/usr/local',
  '/Library/PostgreSQL/18',
  '/Applications/Postgres.app/Contents/Versions/18',
  'C:\\Program Files\\PostgreSQL\\18',
].flatMap(foldersInLayouts);

/** Where the user wants extensions to come from. */
export interface ExtensionChoice {
  /** The user's folder. If set, no other is used. */
  readonly extensionsDir?: string | undefined;
  /** Whether to use the extensions of another Postgres on this machine. */
  readonly installedExtensions?: boolean | undefined;
  /** Names of extensions that owners may create although their control files don't say so. */
  readonly trustedExtensions?: readonly string[] | undefined;
}

/** Reads every library of the folders with extensions. @returns the folders, also those that can't be used */
export function findMoreExtensions(
  { extensionsDir, installedExtensions = false }: ExtensionChoice,
  binaries: PostgresBinaries,
  places = INSTALLED,
): MoreExtensions[] {
  if (extensionsDir !== undefined) return [readExtensionsFolder(extensionsDir, binaries)];
  if (!installedExtensions || binaries.major !== FIRST_WITH_CONTROL_PATH) return [];
  const own = packagedExtensionsFolder(binaries.folder, binaries.major);
  return places
    .filter(hasExtensions)
    .filter(({ share }) => realPathIfExists(path.join(share, 'extension')) !== own)
    .map((place) => readFolder(place, binaries))
    .filter(({ names, problem }) => names.length > 0 || problem !== undefined);
}

const hasExtensions = ({ share }: ExtensionFolder): boolean => existsSync(path.join(share, 'extension'));

/** @param chosen a folder with `extension` and `lib`, or of an installed Postgres */
export function readExtensionsFolder(
  chosen: string,
  binaries: Pick<PostgresBinaries, 'major' | 'folder'>,
): MoreExtensions {
  const folder = realPathIfExists(chosen) ?? chosen;
  const found = foldersInLayouts(folder).find(hasExtensions);
  return readFolder(found ?? { share: folder, lib: path.join(folder, 'lib') }, binaries);
}

function readFolder(
  place: ExtensionFolder,
  { major, folder }: Pick<PostgresBinaries, 'major' | 'folder'>,
): MoreExtensions {
  const share = realPathIfExists(place.share) ?? place.share;
  const lib = realPathIfExists(place.lib) ?? place.lib;
  try {
    const scripts = listFiles(path.join(share, 'extension'));
    const libraries = listFiles(lib);
    const all = listExtensionNames(path.join(share, 'extension'));
    const packaged = packagedExtensionsFolder(folder, major) ?? '';
    const names = all.filter((name) => !existsSync(path.join(packaged, `${name}.control`))).toSorted();
    const problem =
      (major < FIRST_WITH_CONTROL_PATH &&
        `Postgres ${major} can't read them, only ${FIRST_WITH_CONTROL_PATH} and newer`) ||
      (all.length === 0 && `${path.join(share, 'extension')} has no .control files`) ||
      ([share, lib].some((each) => each.includes(path.delimiter)) &&
        `its path contains "${path.delimiter}"`) ||
      // If the package has all of them, nothing else matters.
      (names.length > 0 &&
        (changeableProblem([...scripts, ...libraries]) || misfitProblem(libraries, major)));
    return problem ? { names: [], share, lib, problem } : { names, share, lib };
  } catch (error) {
    return { names: [], share, lib, problem: error instanceof Error ? error.message : String(error) };
  }
}

/** Adds the folders to the settings. The packaged extensions and libraries come first, so that the folders can't replace them. */
export function addExtensionFolders(
  settings: PostgresSettings,
  folders: readonly ExtensionFolder[],
): PostgresSettings {
  if (folders.length === 0) return settings;
  const { extension_control_path: own = '$system' } = settings;
  return {
    ...settings,
    extension_control_path: [own, ...folders.map(({ share }) => share)].join(path.delimiter),
    dynamic_library_path: ['$libdir', ...folders.map(({ lib }) => lib)].join(path.delimiter),
  };
}

/**
 * Returns the files of a folder, with links resolved. For a broken link, the result has the part of the target's path that exists,
 * because a user who can change that part can create the file.
 * @param folder a path without links
 * @throws the system's error if the folder can't be read
 */
const listFiles = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).map((entry) => {
    const file = path.join(folder, entry.name);
    return entry.isSymbolicLink()
      ? (realPathIfExists(file) ?? existingAncestor(readlinkSync(file), folder))
      : file;
  });

function existingAncestor(target: string, folder: string): string {
  for (let part = path.resolve(folder, target); ; part = path.dirname(part)) {
    const real = realPathIfExists(part);
    if (real !== undefined) return real;
  }
}

function changeableProblem(files: readonly string[]): string | undefined {
  const changeable = findChangeableAmong(files);
  return changeable && `other users can change ${changeable}`;
}

function misfitProblem(libraries: readonly string[], major: number): string | undefined {
  for (const file of libraries.filter((each) => MODULE_SUFFIXES.includes(path.extname(each)))) {
    const library = readFileSync(file);
    const machines = machinesOf(library);
    // Postgres can't load such a file, so an extension that needs the file fails when it is created.
    if (machines.length === 0) continue;
    if (!machines.includes(`${process.platform} ${process.arch}`))
      return `${file} isn't for ${process.platform} ${process.arch}`;
    const built = majorOfModule(library);
    // A library without a version is one that other libraries use, or Postgres itself refuses to load it.
    if (built !== undefined && built !== major) return `${file} is for Postgres ${built}, not ${major}`;
  }
  return undefined;
}

/** Processors by their number in the headers of ELF, PE and Mach-O. */
const ELF: Readonly<Record<number, string>> = { 62: 'x64', 183: 'arm64' };
const PE: Readonly<Record<number, string>> = { 0x8664: 'x64', 0xaa64: 'arm64' };
/** The most bytes of a header. Every library is longer. */
const LONGEST_HEADER = 1024;
const MACH_O: Readonly<Record<number, string>> = { 0x01000007: 'x64', 0x0100000c: 'arm64' };

/**
 * @returns what a library is for, such as `linux x64`; several for a universal one of macOS; none if it isn't a library, or is cut
 * off
 */
function machinesOf(library: Buffer): string[] {
  if (library.length < LONGEST_HEADER) return [];
  try {
    return machinesInHeader(library);
  } catch {
    return []; // The header of a damaged library points behind its end.
  }
}

/** The first bytes of an ELF file, of a PE file (“MZ”), and of a Mach-O file for one processor and for several. */
const [ELF_MAGIC, PE_MAGIC, MACH_O_MAGIC, UNIVERSAL_MAGIC] = [0x7f454c46, 0x4d5a, 0xcffaedfe, 0xcafebabe];

/** @throws {RangeError} if the header points behind the end of the file */
function machinesInHeader(library: Buffer): string[] {
  const start = library.readUInt32BE(0);
  if (start === ELF_MAGIC) return [`linux ${ELF[library.readUInt16LE(18)]}`];
  if (start >>> 16 === PE_MAGIC) return [`win32 ${PE[library.readUInt16LE(library.readUInt32LE(0x3c) + 4)]}`];
  if (start === MACH_O_MAGIC) return [`darwin ${MACH_O[library.readUInt32LE(4)]}`];
  if (start !== UNIVERSAL_MAGIC) return [];
  return Array.from({ length: library.readUInt32BE(4) }, (_, index) =>
    library.readUInt32BE(8 + 20 * index),
  ).map((type) => `darwin ${MACH_O[type]}`);
}

/**
 * Returns the major version in the block by which Postgres recognizes its modules (`Pg_abi_values` in `fmgr.h`): the version, four
 * build options, and the name of the product.
 */
function majorOfModule(library: Buffer): number | undefined {
  const [options, name] = [4 * 4, Buffer.from('PostgreSQL\0')];
  for (let at = library.indexOf(name); at !== -1; at = library.indexOf(name, at + 1)) {
    const block = at - options - 4;
    if (block >= 0 && library.readInt32LE(block + 4) === 100 && library.readInt32LE(block + 8) === 32)
      return Math.floor(library.readInt32LE(block) / 100);
  }
  return undefined;
}
