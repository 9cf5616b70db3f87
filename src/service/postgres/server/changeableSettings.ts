/** Which settings of Postgres users may change: Postgres says of each who may, and what it is about. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { SHARED_BUFFERS_MB } from '../../../api/rules/sizes.ts';
import { EngineError, type ComputeSpec } from '../../core/computeEngine.ts';
import type { EngineStorage } from '../storage/storage.ts';
import { programNextTo, type PostgresBinaries } from './programs.ts';
import { runProgram } from './runProgram.ts';
import { LOOPBACK } from './serverAddress.ts';
import { serverEnvironment } from './serverEnvironment.ts';
import {
  LOGICAL_REPLICATION_SETTINGS,
  serviceSettings,
  userSettings,
  type PostgresSettings,
} from './settings.ts';

interface CheckDependencies {
  readonly storage: Pick<EngineStorage, 'root'>;
  readonly binaries: Pick<PostgresBinaries, 'postgres' | 'folder' | 'major'>;
  /** The settings that all servers have for extensions. See `extensions/ownerExtensions.ts`. */
  readonly extensionSettings: PostgresSettings;
}

const CONNECTS = 'the service connects clients';
const COPIES = 'the service copies branches and runs read replicas';
const IS_SAFE = 'committed rows must be safe';
const READS_LOG = 'the service reads the log';
const RUNS = 'it would run programs or touch files outside the branch';

/** Why the service keeps single settings of groups that are open. What it sets itself is refused without being listed here. */
const KEPT_SETTINGS = new Map(
  Object.entries({
    max_connections: 'it follows from the compute size',
    shared_buffers: `it is ${SHARED_BUFFERS_MB} MB on every compute`,
    shared_memory_type: 'it follows from the machine',
    dynamic_shared_memory_type: 'it follows from the machine',
    // Any session may set these, but they are about logins and about libraries that each session loads.
    password_encryption: CONNECTS,
    local_preload_libraries: RUNS,
    fsync: IS_SAFE,
    full_page_writes: IS_SAFE,
    wal_level: COPIES,
    wal_recycle: COPIES,
    max_wal_senders: COPIES,
    max_replication_slots: COPIES,
    max_slot_wal_keep_size: COPIES,
    hot_standby: COPIES,
    primary_conninfo: COPIES,
    primary_slot_name: COPIES,
    recovery_min_apply_delay: COPIES,
    // Only Postgres 15 has this setting. A replica would delete the file that it names.
    promote_trigger_file: RUNS,
    sync_replication_slots: COPIES,
    lc_messages: READS_LOG,
    log_line_prefix: READS_LOG,
    log_min_messages: READS_LOG,
    log_error_verbosity: READS_LOG,
  }),
);

/**
 * The beginnings of Postgres's names for the groups of settings that users may change although a session may not. Postgres 18 has
 * renamed one of them. Settings of other groups may do anything to the server.
 */
const OPEN_GROUPS = [
  'Autovacuum',
  'Lock Management',
  'Query Tuning / ',
  'Replication / Sending Servers',
  'Replication / Standby Servers',
  'Replication / Subscribers',
  'Reporting and Logging / Process Title',
  'Reporting and Logging / What to Log',
  'Reporting and Logging / When to Log',
  'Resource Usage / ',
  'Statistics / ',
  'Vacuuming / ',
  'Write-Ahead Log / Checkpoints',
  'Write-Ahead Log / Settings',
  'Write-Ahead Log / Summarization',
];

/** Reasons why other groups are closed, by how their names begin. */
const CLOSED_GROUPS: readonly (readonly [group: string, reason: string])[] = [
  ['Client Connection Defaults / Other Defaults', RUNS],
  ['Client Connection Defaults / Shared Library Preloading', RUNS],
  ['Connections and Authentication / ', CONNECTS],
  ['File Locations', 'the service keeps the files'],
  ['Replication / ', COPIES],
  ['Reporting and Logging / ', READS_LOG],
  ['Write-Ahead Log / ', COPIES],
];

/**
 * The libraries of which users may change all settings: any session may set them, or they are about what is logged, counted or checked.
 * Postgres describes the settings of a library only once the library runs. That could run what a setting contains, and fails if a
 * library needs another one that is missing.
 */
const OPEN_LIBRARIES = [
  'auto_explain',
  'h3',
  'hypopg',
  'isn',
  'pg_stat_statements',
  'pg_trgm',
  'plpgsql',
  'postgres_fdw',
  'roaringbitmap',
  'vector',
];

export const MODULE_SUFFIXES = ['.so', '.dylib', '.dll'];

/**
 * Returns the user's settings of a compute, by name. Call this before a server starts with them, or they are saved.
 * @throws {EngineError} with the reason for one that users can't change
 */
export async function changeableSettings(
  deps: CheckDependencies,
  compute: Pick<ComputeSpec, 'id' | 'minCu' | 'pgSettings'>,
): Promise<Map<string, string>> {
  const settings = userSettings(compute.pgSettings);
  if (settings.size === 0) return settings;
  const service = serviceSettings(compute, { host: LOOPBACK, port: 1 }, deps.extensionSettings);
  // The settings of logical replication are always kept, because a project can turn it on later.
  const kept = new Set(Object.keys({ ...service, ...LOGICAL_REPLICATION_SETTINGS }));
  const described = await describeSettings(deps);
  for (const name of settings.keys()) requireChangeable(name, described.get(name), kept.has(name));
  const ofLibraries = [...settings.keys()].filter((name) => name.includes('.'));
  await requireOpenLibraries(deps, ofLibraries);
  return settings;
}

interface SettingDescription {
  /** Who may change it, and when, such as `user` for any session. The manual describes it with the view `pg_settings`. */
  readonly context: string;
  readonly group: string;
}

type Descriptions = ReadonlyMap<string, SettingDescription>;

/** The settings of the service's Postgres, which is asked once, because asking takes half as long as a start. */
const known = new WeakMap<CheckDependencies['binaries'], Promise<Descriptions>>();

function describeSettings({ binaries, storage }: CheckDependencies): Promise<Descriptions> {
  const found = known.get(binaries) ?? readDescriptions(binaries.postgres, storage.root);
  known.set(binaries, found);
  found.catch(() => known.delete(binaries));
  return found;
}

/** Returns what Postgres says of its settings, by name in lower case. It leaves out most of those that are for its developers. */
async function readDescriptions(postgres: string, cwd: string): Promise<Descriptions> {
  const printed = await runProgram(postgres, ['--describe-config'], { cwd });
  return new Map(
    printed.split(/\r?\n/).map((line) => {
      const [name = '', context = '', group = ''] = line.split('\t');
      return [name.toLowerCase(), { context, group }];
    }),
  );
}

/** @throws {EngineError} */
function requireChangeable(name: string, described: SettingDescription | undefined, isKept: boolean): void {
  const refuse = (reason: string) => {
    throw new EngineError(`parameter "${name}" cannot be changed: ${reason}`);
  };
  const reason = KEPT_SETTINGS.get(name);
  if (isKept || reason !== undefined) refuse(reason ?? 'the service sets it');
  if (name.includes('.')) return; // A library may have it.
  if (described === undefined)
    throw new EngineError(
      `unrecognized configuration parameter "${name}", or one that Postgres leaves out of its description`,
    );
  const { context, group } = described;
  if (context === 'user' || OPEN_GROUPS.some((each) => group.startsWith(each))) return;
  const closed = CLOSED_GROUPS.find(([each]) => group.startsWith(each));
  refuse(closed?.[1] ?? `only the service sets what Postgres counts as “${group}”`);
}

/**
 * Postgres takes any name with a point. If no library has it, it is a text that only the user's own SQL reads. Otherwise, the library
 * gets it from the server's file, so that it counts as a superuser's: that of a language may be code.
 * @throws {EngineError} for a setting of a library that isn't known to be harmless
 */
async function requireOpenLibraries(deps: CheckDependencies, names: readonly string[]): Promise<void> {
  for (const [name, found] of await findLibraries(deps, names))
    if (found.length > 0 && !found.some((library) => OPEN_LIBRARIES.includes(library)))
      throw new EngineError(
        `parameter "${name}" cannot be changed: it may belong to the library ${found[0]}, which could do anything with it`,
      );
}

/** The libraries with a setting, by its name, as far as the service's Postgres was searched for it. */
const searched = new WeakMap<CheckDependencies['binaries'], Map<string, readonly string[]>>();

/**
 * Returns, for each setting, the libraries that may define it: those whose file contains its name, or has the name's first part as its
 * own name, because a library can put the names of its settings together. Only in C does NUL follow a name.
 */
async function findLibraries(
  deps: CheckDependencies,
  names: readonly string[],
): Promise<readonly (readonly [name: string, libraries: readonly string[]])[]> {
  const before = searched.get(deps.binaries) ?? new Map<string, readonly string[]>();
  searched.set(deps.binaries, before);
  const found = new Map(names.filter((name) => !before.has(name)).map((name) => [name, [] as string[]]));
  for (const folder of found.size === 0 ? [] : libraryFolders(deps))
    for (const file of await readdir(folder)) {
      const { name: library, ext } = path.parse(file);
      if (!MODULE_SUFFIXES.includes(ext)) continue;
      // Postgres, which runs as the service does, couldn't load a file that can't be read.
      const text = (await readFile(path.join(folder, file), 'latin1').catch(() => '')).toLowerCase();
      for (const [name, libraries] of found)
        if (text.includes(name) || isNamedAfter(library, name)) libraries.push(library);
    }
  for (const [name, libraries] of found) before.set(name, libraries);
  return names.map((name) => [name, before.get(name) ?? []]);
}

/** Whether a library has the first part of a setting as its name, which a version such as `-1.2` may follow. */
function isNamedAfter(library: string, setting: string): boolean {
  const [prefix] = setting.split('.');
  return `${library.toLowerCase()}-`.startsWith(`${prefix}-`);
}

/** @throws {EngineError} if Postgres's own folder isn't found */
function libraryFolders({ binaries, extensionSettings }: CheckDependencies): readonly string[] {
  const own = ownLibraryFolder(binaries);
  if (own === undefined)
    throw new EngineError(
      `The libraries of ${binaries.postgres} were not found, so their settings aren't known. Install its pg_config, which knows them`,
    );
  const further = String(extensionSettings['dynamic_library_path'] ?? '').split(path.delimiter);
  return [own, ...further.filter((folder) => path.isAbsolute(folder))];
}

/**
 * Returns the folder of Postgres's own libraries. Its pg_config knows it, but many packages leave that out, so the folders of npm, of
 * Debian and Windows, of openSUSE, of Fedora, of Homebrew, and of Alpine follow.
 */
export function ownLibraryFolder({
  folder,
  major,
}: Pick<PostgresBinaries, 'folder' | 'major'>): string | undefined {
  const usual = [
    'lib/postgresql',
    'lib',
    'lib64',
    'lib64/pgsql',
    `lib/postgresql@${major}`,
    `/usr/lib/postgresql${major}`,
  ].map((each) => path.resolve(folder, '..', each));
  return [...configuredLibraryFolder(folder), ...usual].find((each) => hasLibrary(each, 'plpgsql'));
}

function configuredLibraryFolder(folder: string): readonly string[] {
  const program = programNextTo(folder, 'pg_config');
  if (program === undefined) return [];
  try {
    const options = { encoding: 'utf8', env: serverEnvironment(program), windowsHide: true } as const;
    return [execFileSync(program, ['--pkglibdir'], options).trim()];
  } catch {
    return []; // A pg_config that can't run knows nothing.
  }
}

export const hasLibrary = (folder: string, name: string): boolean =>
  MODULE_SUFFIXES.some((suffix) => existsSync(path.join(folder, name + suffix)));
