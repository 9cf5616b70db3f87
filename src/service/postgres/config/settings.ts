/**
 * The Postgres settings of a compute: what its size fixes, what the service needs for itself, and what the user adds
 * in `pg_settings`. Ours go on the command line, which wins over every file; the user's go into `postgresql.conf`.
 */
import { settingText } from '../../../api/records/settingText.ts';
import { maxConnections, SHARED_BUFFERS_MB } from '../../../api/records/sizes.ts';
import { EngineError, type ComputeSpec } from '../../core/computeEngine.ts';
import { SIZE_FILE } from './sizeFile.ts';
import { listenArguments, type ServerAddress } from '../network/serverAddress.ts';

/** Settings that section 2.7 or the service's own working fixes, with the reason a user is told. */
const FIXED: readonly (readonly [names: RegExp, reason: string])[] = [
  [/^max_connections$/, 'it follows from the compute size'],
  [/^shared_buffers$/, `it is ${SHARED_BUFFERS_MB} MB on every compute`],
  [
    /^(listen_addresses|port|unix_socket_.*|bonjour.*|ssl.*|krb_.*|gss_.*|password_encryption|oauth_.*)$/,
    'the service connects clients',
  ],
  [
    /^(data_directory|config_file|hba_file|ident_file|external_pid_file|include.*)$/,
    'the service keeps the files',
  ],
  [
    /^(fsync|full_page_writes|zero_damaged_pages|ignore_.*|allow_system_table_mods|data_sync_retry)$/,
    'committed rows must be safe',
  ],
  [
    /^(wal_level|max_wal_senders|max_replication_slots|hot_standby|primary_.*|promote_trigger_file|synchroni[sz]e[d]?_standby.*|synchronous_standby_names|sync_replication_slots|recovery_.*|restore_command|archive_.*)$/,
    'the service runs the read replicas',
  ],
  [
    /^(logging_collector|log_destination|log_directory|log_filename|log_file_mode|log_line_prefix|lc_messages|syslog_.*|event_.*|log_min_messages)$/,
    'the service reads the log',
  ],
  [
    /(_preload_libraries|_library|_libraries|_library_path|_command|_control_path|jit_provider|stats_temp_directory|cluster_name)$/,
    'it would run programs or touch files outside the branch',
  ],
];

/** Chosen by the service, changeable by the user. */
const DEFAULTS: Readonly<Record<string, string>> = {
  log_checkpoints: 'off',
  // Statements hold data, and the service's log is no place for it.
  log_min_error_statement: 'panic',
  // What a read replica may fall behind while it sleeps before it has to be made again.
  wal_keep_size: '256MB',
};

const NAME = /^[a-z_][a-z0-9_$]*(\.[a-z_][a-z0-9_$]*)?$/;

/**
 * The user's settings as name and text, checked as far as that goes without a server.
 * @throws {EngineError} for a setting that is ours, or a value that is none
 */
export function userSettings(pgSettings: ComputeSpec['pgSettings']): Map<string, string> {
  const settings = new Map<string, string>();
  for (const [given, value] of Object.entries(pgSettings)) {
    const name = given.toLowerCase();
    if (!NAME.test(name)) throw new EngineError(`unrecognized configuration parameter "${given}"`);
    const fixed = FIXED.find(([names]) => names.test(name));
    if (fixed) throw new EngineError(`parameter "${name}" cannot be changed: ${fixed[1]}`);
    settings.set(name, checkedText(name, value));
  }
  return settings;
}

function checkedText(name: string, value: unknown): string {
  const text = settingText(value);
  // A file is read line by line, so a value cannot contain a line end.
  // oxlint-disable-next-line no-control-regex
  if (text !== undefined && !/[\u0000\r\n]/.test(text)) return text;
  throw new EngineError(`invalid value for parameter "${name}": a string, a number or a boolean is needed`);
}

/** The whole of a server's `postgresql.conf`. */
export function configurationFile(settings: ReadonlyMap<string, string>): string {
  // Later lines win: what the user sets counts more than what follows from the size.
  return `# Written by the service at every start.\ninclude_if_exists '${SIZE_FILE}'\n${settingsLines(settings)}`;
}

/** What follows from `settings` alone, one line each. */
export function settingsLines(settings: ReadonlyMap<string, string>): string {
  const all = new Map([...Object.entries(DEFAULTS), ...settings]);
  const lines = [...all].map(
    ([name, value]) => `${name} = '${value.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`,
  );
  return `${lines.join('\n')}\n`;
}

/** `max_connections` of a compute (section 2.7). @throws {EngineError} for a size outside the table. */
export function connectionsOf(compute: Pick<ComputeSpec, 'minCu'>): number {
  const connections = maxConnections(compute.minCu);
  if (connections === undefined) throw new EngineError(`${compute.minCu} CU is not a compute size`);
  return connections;
}

/** The service's own settings, for the command line. `overrides` come last and win. */
export function fixedArguments(
  compute: ComputeSpec,
  address: ServerAddress,
  overrides: ReadonlyMap<string, string | number> = new Map(),
): string[] {
  const fixed: Record<string, string | number> = {
    max_connections: connectionsOf(compute),
    shared_buffers: `${SHARED_BUFFERS_MB}MB`,
    cluster_name: compute.id,
    unix_socket_permissions: '0700',
    wal_level: 'replica',
    // A walsender for every read replica a branch may have; an unused one costs next to nothing.
    max_wal_senders: 100,
    logging_collector: 'off',
    log_destination: 'stderr',
    log_line_prefix: '',
    log_min_messages: 'warning',
    lc_messages: 'C',
    ...Object.fromEntries(overrides),
  };
  return [
    ...listenArguments(address),
    ...Object.entries(fixed).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ];
}
