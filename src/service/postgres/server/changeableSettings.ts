/** Which settings of Postgres users may change: Postgres says of each who may, and what it is about. */
import { SHARED_BUFFERS_MB } from '../../../api/rules/sizes.ts';
import { EngineError, type ComputeSpec } from '../../core/computeEngine.ts';
import type { EngineStorage } from '../storage/storage.ts';
import type { PostgresBinaries } from './programs.ts';
import { runProgram } from './runProgram.ts';
import { LOOPBACK } from './serverAddress.ts';
import {
  LOGICAL_REPLICATION_SETTINGS,
  serviceSettings,
  userSettings,
  type PostgresSettings,
} from './settings.ts';

interface CheckDependencies {
  readonly storage: Pick<EngineStorage, 'root'>;
  readonly binaries: Pick<PostgresBinaries, 'postgres'>;
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
 * Settings of a procedural language contain code that it runs with the rights of the server: `plperl.on_init`. Only the language
 * itself could say which, once it is loaded. PL/pgSQL has none.
 */
const SETTING_OF_LANGUAGE = /^pl(?!pgsql\.)[a-z0-9_$]*\./;

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
  if (name.includes('.')) {
    if (SETTING_OF_LANGUAGE.test(name)) refuse(RUNS);
    return;
  }
  if (described === undefined)
    throw new EngineError(
      `unrecognized configuration parameter "${name}", or one that Postgres leaves out of its description`,
    );
  const { context, group } = described;
  if (context === 'user' || OPEN_GROUPS.some((each) => group.startsWith(each))) return;
  const closed = CLOSED_GROUPS.find(([each]) => group.startsWith(each));
  refuse(closed?.[1] ?? `only the service sets what Postgres counts as “${group}”`);
}
