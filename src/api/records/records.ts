/**
 * The fields of the service's resources that the extension uses; others are dropped. States, types, actions and statuses are open strings,
 * because the specification names only some values. Only what the extension can't do without is required, so records stay readable.
 */
import * as z from 'zod/mini';
import { isConnectionUri } from '../addresses/connectionUri.ts';
import { isHost } from '../addresses/host.ts';
import { isApiKeyId, isComputeId, isId, isSendableKey } from './ids.ts';

/** A known set of values that stays open to new ones. */
type OpenUnion<Known extends string> = Known | (string & {});

/** The most characters of a text field. A record with a longer text counts as unreadable, so that it can't slow down the views. */
const MAX_TEXT_LENGTH = 4096;

const text = z.custom<string>((value) => typeof value === 'string' && value.length <= MAX_TEXT_LENGTH);
const [number, flag] = [z.number(), z.boolean()];
const id = z.custom<string>(isId);
const host = z.custom<string>(isHost);
const apiKeyId = z.custom<number>(isApiKeyId);
const openUnion = <Known extends string>(): z.ZodMiniType<OpenUnion<Known>> => text;
const toNull = z.transform(() => null);
/** Turns a value of another type into null, so that it doesn't make the whole record unreadable. */
const unknownValue = z.pipe(z.unknown(), toNull);
const setting = z.union([z.string(), number, flag, unknownValue]);

/** A text that is only shown to the user. A value of another type makes only this field unreadable. */
const shownText = z.optional(z.union([text, unknownValue]));
const shownNumber = z.optional(z.union([number, unknownValue]));
const shownFlag = z.optional(z.union([flag, unknownValue]));

/** The login of the role that only reads, on a branch of the local service. It contains a secret. */
export const ReaderCredentials = z.object({ role: text, password: text });

/** An API key in a list. Timestamps are ISO 8601 UTC. */
export const ApiKey = z.object({
  id: apiKeyId,
  name: text,
  created_at: z.nullish(text),
  created_by: z.optional(z.unknown()),
  last_used_at: z.nullish(text),
  last_used_from_addr: z.nullish(text),
});
export type ApiKey = z.infer<typeof ApiKey>;

/** A new API key with its secret value. No other reply of a service contains the value. */
export const CreatedApiKey = z.object({
  id: apiKeyId,
  key: z.string().check(z.refine(isSendableKey)),
  name: z.nullish(text),
  created_at: z.nullish(text),
  created_by: z.optional(z.unknown()),
});
export type CreatedApiKey = z.infer<typeof CreatedApiKey>;

/** The reply to revoking a key. `revoked: false` is treated as an error. */
export const RevokedApiKey = z.extend(ApiKey, { name: z.nullish(text), revoked: z.literal(true) });
export type RevokedApiKey = z.infer<typeof RevokedApiKey>;

export const Project = z.object({
  id,
  name: text,
  region_id: z.nullish(text),
  pg_version: z.nullish(number),
  /** The usage in CU-seconds, in spite of the name. */
  cpu_used_sec: z.nullish(number),
  /** For how many seconds computes were active (public service). */
  active_time: z.nullish(number),
  /** While this is true, the service changes and starts nothing in the project. */
  locked: shownFlag,
  /** The largest size of each branch in megabytes. */
  branch_logical_size_limit: shownNumber,
  /** How far back branches can be restored (public service). */
  history_retention_seconds: shownNumber,
  platform_id: shownText,
  provisioner: shownText,
  proxy_host: shownText,
  settings: z.nullish(z.object({ enable_logical_replication: shownFlag })),
  created_at: z.nullish(text),
  updated_at: shownText,
  /** Only a deleted project has this field. */
  deleted_at: z.nullish(text),
  recoverable_until: z.nullish(text),
});
export type Project = z.infer<typeof Project>;

/** A root branch has no `parent_id`. Counters begin with the billing period. `compute_time_seconds` is in CU-seconds. */
export const Branch = z.object({
  id,
  name: text,
  parent_id: z.nullish(id),
  current_state: z.nullish(openUnion<'init' | 'resetting' | 'ready' | 'archived'>()),
  default: z.nullish(flag),
  protected: z.nullish(flag),
  expires_at: z.nullish(text),
  compute_time_seconds: z.nullish(number),
  active_time_seconds: z.nullish(number),
  logical_size: z.nullish(number),
  /** The bytes that the branch's history takes on the disk (local service). */
  history_size: shownNumber,
  created_at: z.nullish(text),
  last_reset_at: z.nullish(text),
  /** The branch that this one replaces with the data of a snapshot, or has replaced if `restore_status` is `finalized`. */
  restored_as: z.nullish(id),
  restore_status: z.nullish(openUnion<'restored' | 'finalized'>()),
  init_source: z.nullish(text),
});
export type Branch = z.infer<typeof Branch>;

/** A copy of a branch's data, as of `timestamp` if the request named one, or else of its creation. `full_size` is in bytes. */
export const Snapshot = z.object({
  id,
  name: text,
  source_branch_id: z.nullish(id),
  timestamp: z.nullish(text),
  created_at: z.nullish(text),
  expires_at: z.nullish(text),
  full_size: shownNumber,
});
export type Snapshot = z.infer<typeof Snapshot>;

/** Postgres settings by name. The public service takes and returns only text. */
export type PgSettings = Record<string, string>;

/**
 * A compute. Sizes are in compute units; for `suspend_timeout_seconds` see `autosuspendDelay.ts`. Only the local
 * service has a `pooler_host`; the public service's is derived from `host`.
 */
export const Compute = z.object({
  id: z.custom<string>(isComputeId),
  host,
  project_id: id,
  branch_id: id,
  type: openUnion<'read_write' | 'read_only'>(),
  current_state: openUnion<'init' | 'active' | 'idle'>(),
  pending_state: z.nullish(openUnion<'active' | 'idle'>()),
  name: z.nullish(text),
  region_id: z.nullish(text),
  autoscaling_limit_min_cu: z.nullish(number),
  autoscaling_limit_max_cu: z.nullish(number),
  suspend_timeout_seconds: z.nullish(number),
  settings: z.nullish(z.object({ pg_settings: z.nullish(z.record(z.string(), setting)) })),
  pooler_enabled: z.nullish(flag),
  /** Whether pooled clients get `shared` or `separate` sessions. Only the local service returns it. */
  pooled_sessions: z.nullish(text),
  pooler_host: z.nullish(host),
  disabled: z.nullish(flag),
  pooler_mode: shownText,
  passwordless_access: shownFlag,
  proxy_host: shownText,
  last_active: z.nullish(text),
  /** Why the compute isn't active, if it failed to start. Only the local service returns this. */
  last_error: z.nullish(z.string()),
  /** When the compute was last started. Only the public service returns this. */
  started_at: shownText,
  created_at: z.nullish(text),
  updated_at: shownText,
  /** The number of open client connections. Only the local service returns it, for a single compute. */
  connections: z.nullish(number),
});
export type Compute = z.infer<typeof Compute>;

/** A background action on a compute or a branch. `error` is the service's message if it failed. */
export const Operation = z.object({
  id: text,
  project_id: text,
  branch_id: z.nullish(text),
  endpoint_id: z.nullish(text),
  action: openUnion<'start_compute' | 'apply_config' | 'suspend_compute'>(),
  status: openUnion<'scheduling' | 'running' | 'finished' | 'failed'>(),
  failures_count: z.nullish(number),
  error: z.nullish(z.string()),
  total_duration_ms: z.nullish(number),
  /** `connection` or `inactivity`, if no request has started the operation. Only the local service returns this. */
  triggered_by: shownText,
  created_at: z.nullish(text),
});
export type Operation = z.infer<typeof Operation>;

/** A session of a compute, or a prepared transaction: see `SESSIONS_QUERY`. Its durations are in seconds. */
export const PostgresSession = z.object({
  id: text,
  type: z.nullish(text),
  application: z.nullish(text),
  role: z.nullish(text),
  /** For a session of a local compute, this is the port of the client itself. */
  client_port: z.nullish(number),
  state: z.nullish(text),
  is_blocked: z.nullish(flag),
  is_copying: z.nullish(flag),
  /** `logical` or `physical`, if the session serves a replication slot. `lag` has the bytes of log that aren't confirmed. */
  replication: z.nullish(text),
  slot: z.nullish(text),
  lag: z.nullish(number),
  /** The first word of the session's current or last statement, in capitals. */
  command: z.nullish(text),
  connected_for: z.nullish(number),
  transaction_for: z.nullish(number),
  state_for: z.nullish(number),
});
export type PostgresSession = z.infer<typeof PostgresSession>;

/** Returns the readable items of a list. */
const parseReadable = <T>(list: unknown, item: z.ZodMiniType<T>): readonly T[] =>
  Array.isArray(list) ? list.flatMap((each) => item.safeParse(each).data ?? []) : [];

export const parsePostgresSessions = (list: unknown) => parseReadable(list, PostgresSession);

/** The number of clients of an active compute's PgBouncer, for which idle clients aren't activity. Only the local service knows it. */
export const PooledActivity = z.object({
  pooled_clients: number,
});

/** What has changed in a table since a moment. Only the local service knows this. */
const ChangedTable = z.object({
  database: text,
  schema: z.nullish(text),
  name: text,
  /** What was done to the table, such as `dropped`. */
  change: z.nullish(text),
  /** The numbers of rows that were added, changed and deleted. */
  added: number,
  changed: number,
  deleted: number,
});
export type ChangedTable = z.infer<typeof ChangedTable>;

/** What has changed in a branch since a moment. */
const ChangesSince = z.object({
  since: text,
  /** The first of the changed tables. */
  tables: z.array(ChangedTable),
  tables_count: number,
});
export type ChangesSince = z.infer<typeof ChangesSince>;

export const parseChanges = (list: unknown): readonly ChangesSince[] => parseReadable(list, ChangesSince);

/** The moment just before something, as a time and, if it is known, as a position. */
const momentBefore = { before: text, lsn: z.nullish(text) };

/** A transaction that has changed rows of a table. Only the local service knows it. */
const TableTransaction = z.object({
  ids: z.array(number),
  ...momentBefore,
  /** Whether steps of a migration may have come before this transaction: see `TableTransaction` of the service. */
  late: z.boolean(),
  added: number,
  changed: number,
  deleted: number,
});
export type TableTransaction = z.infer<typeof TableTransaction>;

export const parseTableTransactions = (list: unknown): readonly TableTransaction[] =>
  parseReadable(list, TableTransaction);

/** A series of transactions that have changed the schema, or have deleted many rows. Only the local service knows it. */
const SchemaChange = z.object({
  ...momentBefore,
  /** The numbers of tables that were created, altered and so on. `deleted`: of deleted rows; `tables`: of tables with them. */
  created: number,
  altered: number,
  dropped: number,
  truncated: number,
  migrations: number,
  deleted: z.optional(number),
  tables: z.optional(number),
});
export type SchemaChange = z.infer<typeof SchemaChange>;

export const parseSchemaChanges = (list: unknown): readonly SchemaChange[] =>
  parseReadable(list, SchemaChange);

/** A name or password. Control characters are rejected, because names and passwords are put into files and terminals. */
// oxlint-disable-next-line no-control-regex
const printable = z.string().check(z.maxLength(MAX_TEXT_LENGTH), z.regex(/^[^\u0000-\u001f\u007f]+$/));

/** A database of a branch (public service). */
export const Database = z.object({ name: printable, owner_name: printable });
export type Database = z.infer<typeof Database>;

/** The schema of a database (public service). */
export const Schema = z.object({ sql: z.string() });

/** A Postgres role of a branch (public service). */
export const Role = z.object({
  name: printable,
  authentication_method: z.nullish(openUnion<'password' | 'no_login'>()),
});
export type Role = z.infer<typeof Role>;

/** A role with its new password, which is a secret. */
export const ResetRole = z.object({ name: printable, password: printable });

/** An organization of the account's user (public service). */
export const Organization = z.object({ id, name: text });
export type Organization = z.infer<typeof Organization>;

/** Contains a password, so it is a secret. */
export const ConnectionUri = z.object({ uri: z.custom<string>(isConnectionUri) });
