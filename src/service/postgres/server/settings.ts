/**
 * The Postgres settings of a compute: those that its size determines, those that the service needs, and the user's from
 * `pg_settings`. The service's are on the command line, which wins over every file; the user's are in `postgresql.conf`.
 */
import { accessSync, constants, statfsSync } from 'node:fs';
import { SHARED_BUFFERS_MB, computeSize, maxConnections } from '../../../api/rules/sizes.ts';
import { EngineError, type ComputeSpec } from '../../core/computeEngine.ts';
import { LOOPBACK, type ServerAddress } from './serverAddress.ts';

/** Defaults that users can change. */
const CHANGEABLE_DEFAULTS: Readonly<Record<string, string>> = {
  log_checkpoints: 'off',
  // Statements contain data, which must not be in the service's log.
  log_min_error_statement: 'panic',
};

/**
 * A file next to a branch's data directory: how much WAL its primaries keep for its history and its read replicas. The name is
 * older than histories. Renaming the file would lose the settings of existing branches.
 */
export const KEPT_WAL_FILE = 'replicas.conf';

const NAME = /^[a-z_][a-z0-9_$]*(\.[a-z_][a-z0-9_$]*)?$/;

/**
 * Returns the user's settings by name in lower case, as Postgres compares them. Whether users may change them is another question:
 * see `changeableSettings.ts`.
 * @throws {EngineError} for a name or value that could end its line in the file
 */
export function userSettings(pgSettings: ComputeSpec['pgSettings']): Map<string, string> {
  const settings = new Map<string, string>();
  for (const [key, value] of Object.entries(pgSettings)) {
    const name = key.toLowerCase();
    if (!NAME.test(name)) throw new EngineError(`unrecognized configuration parameter "${key}"`);
    // oxlint-disable-next-line no-control-regex
    if (/[\u0000\r\n]/.test(value))
      throw new EngineError(`invalid value for parameter "${name}": several lines`);
    settings.set(name, value);
  }
  return settings;
}

/**
 * Returns the text of `postgresql.conf`. With an autoscaling range, the planner assumes the cache of the largest size, unless the
 * user's settings override it.
 */
export function configurationFile(maxCu: number, settings: ReadonlyMap<string, string>): string {
  const cache = (computeSize(maxCu)?.fileCacheGb ?? 0) * 1024;
  const all = new Map([['effective_cache_size', `${Math.floor(cache)}MB`], ...settings]);
  const start = `# Written by the service at every start.\ninclude_if_exists = '../${KEPT_WAL_FILE}'\n`;
  return start + settingsLines(all);
}

/** Returns a line for each setting, including the defaults. */
export function settingsLines(settings: ReadonlyMap<string, string>): string {
  const all = new Map([...Object.entries(CHANGEABLE_DEFAULTS), ...settings]);
  const lines = [...all].map(
    ([name, value]) => `${name} = '${value.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`,
  );
  return `${lines.join('\n')}\n`;
}

/** Returns `max_connections` of a compute. @throws {EngineError} for a size outside the table */
export function maxConnectionsOf(compute: Pick<ComputeSpec, 'minCu'>): number {
  const connections = maxConnections(compute.minCu);
  if (connections === undefined) throw new EngineError(`${compute.minCu} CU is not a compute size`);
  return connections;
}

/** The size in CU of servers for the service's own work. */
export const INTERNAL_SERVER_CU = 0.25;

/** The bytes of shared memory that are enough. With less, such as the 64 MB of a container, parallel queries fail. */
const ENOUGH_SHARED_MEMORY = 128 * 1024 * 1024;

/**
 * Returns settings for shared memory that works on this machine. Postgres's default needs /dev/shm, which may be small, read-only
 * or missing in a container. So System V memory is used there. This is checked at each start: initdb's choice is for the machine
 * that has created the files, and they may move to another one.
 */
export function sharedMemorySettings(): PostgresSettings {
  if (process.platform === 'win32')
    return { shared_memory_type: 'windows', dynamic_shared_memory_type: 'windows' };
  if (process.platform !== 'linux') return {};
  try {
    accessSync('/dev/shm', constants.W_OK);
    const { bavail, bsize } = statfsSync('/dev/shm');
    if (bavail * bsize >= ENOUGH_SHARED_MEMORY) return {};
  } catch {
    // The shared memory counts as small if its size is unknown.
  }
  return { dynamic_shared_memory_type: 'sysv' };
}

/** Returns what the service sets on the command line. `overrides` win. */
export function serviceSettings(
  compute: Pick<ComputeSpec, 'id' | 'minCu'>,
  { host, port }: ServerAddress,
  overrides: PostgresSettings = {},
): PostgresSettings {
  return {
    listen_addresses: LOOPBACK,
    unix_socket_directories: host === LOOPBACK ? '' : host,
    port,
    max_connections: maxConnectionsOf(compute),
    shared_buffers: `${SHARED_BUFFERS_MB}MB`,
    cluster_name: compute.id,
    unix_socket_permissions: '0700',
    wal_level: 'replica',
    // Recycled files would be written again, but branches share them (see `history.ts`).
    wal_recycle: 'off',
    ...sharedMemorySettings(),
    ...(process.platform === 'linux' ? { recovery_init_sync_method: 'syncfs' } : {}),
    // A crash ends the server, and the next client starts it. By itself, Postgres 18.4 starts again unseen, and never ends by SIGINT then.
    restart_after_crash: 'off',
    // This is enough for all read replicas of a branch. An unused sender costs almost nothing.
    max_wal_senders: 100,
    logging_collector: 'off',
    log_destination: 'stderr',
    log_line_prefix: '',
    log_min_messages: 'warning',
    lc_messages: 'C',
    ...overrides,
  };
}

/**
 * Settings for the primaries and replicas of a project with logical replication, and for each server whose data has slots, because
 * Postgres doesn't start there without them. Half of the slots are for our own copies. A slot without a reader must not fill the disk.
 */
export const LOGICAL_REPLICATION_SETTINGS: PostgresSettings = {
  wal_level: 'logical',
  max_replication_slots: 20,
  max_slot_wal_keep_size: '4GB',
};

/** Settings of Postgres by name. */
export type PostgresSettings = Readonly<Record<string, string | number>>;

/** Returns settings as arguments for the command line of Postgres. */
export const settingArguments = (settings: PostgresSettings): string[] =>
  Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);

/**
 * Settings that must be at least as high on a standby as on its primary (Postgres manual, "Hot Standby", administrator's
 * overview). Otherwise the standby does not start, or stops replaying.
 */
export type StandbySettings = Readonly<Record<string, number>>;

/** Postgres's defaults, the same in every supported version. A new branch has them. */
const STANDBY_DEFAULTS: StandbySettings = {
  max_connections: 100,
  max_prepared_transactions: 0,
  max_locks_per_transaction: 64,
  max_worker_processes: 8,
};

/** Returns the values that a compute's server has for the settings that a standby of it must match. */
export function standbySettingsOfCompute(compute: ComputeSpec): StandbySettings {
  const user = userSettings(compute.pgSettings);
  const values = Object.entries(STANDBY_DEFAULTS).map(([name, value]) => [
    name,
    Number(user.get(name) ?? value),
  ]);
  return { ...Object.fromEntries(values), max_connections: maxConnectionsOf(compute) };
}

/** Returns the higher of both values of each setting. */
export function maximumSettings(
  own: StandbySettings,
  primary: StandbySettings = STANDBY_DEFAULTS,
): StandbySettings {
  const values = Object.entries(own).map(([name, value]) => [name, Math.max(value, primary[name] ?? 0)]);
  return Object.fromEntries(values);
}
