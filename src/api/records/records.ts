/**
 * The service's resources (section 2). Unknown fields are kept. States, types, actions and statuses are open strings,
 * because the specification names only some values. Only fields that the extension cannot do without are required, so
 * that a record stays readable if the service drops a field.
 */
import {
  dictionary,
  flag,
  isTrue,
  longText,
  maybe,
  number,
  object,
  text,
  type Field,
  type Value,
} from './schema.ts';
import { isConnectionUri, isHost } from './connectionUri.ts';
import { isApiKeyId, isComputeId, isId, isSendableKey } from './ids.ts';

/** A known set of values that stays open to new ones. */
export type Open<Known extends string> = Known | (string & {});

export type ComputeState = Open<'init' | 'active' | 'idle'>;
export type ComputeType = Open<'read_write' | 'read_only'>;
export type OperationAction = Open<
  'create_compute' | 'start_compute' | 'apply_config' | 'suspend_compute' | 'delete_compute'
>;
export type OperationStatus = Open<
  'scheduling' | 'running' | 'finished' | 'failed' | 'error' | 'cancelling' | 'cancelled' | 'skipped'
>;

const open = <Known extends string>() => text as Field<Open<Known>>;
const timestamp = text;
const newKey = (value: unknown): value is string => typeof value === 'string' && isSendableKey(value);

/** An API key in a list (section 2.1). Timestamps are ISO 8601 UTC. */
export const ApiKey = object({
  id: isApiKeyId,
  name: text,
  created_at: maybe(timestamp),
  last_used_at: maybe(timestamp),
  last_used_from_addr: maybe(text),
});
export type ApiKey = Value<typeof ApiKey>;

/** A new API key with its secret value, which no other reply contains (section 2.2). */
export const CreatedApiKey = object({ id: isApiKeyId, key: newKey });
export type CreatedApiKey = Value<typeof CreatedApiKey>;

/** The reply to revoking a key (section 2.3). `revoked: false` is treated as an error. */
export const RevokedApiKey = object({
  id: isApiKeyId,
  name: maybe(text),
  revoked: isTrue,
  last_used_at: maybe(timestamp),
  last_used_from_addr: maybe(text),
});
export type RevokedApiKey = Value<typeof RevokedApiKey>;

/** A project in a list (section 2.4). `branch_logical_size_limit` is in MiB. */
export const Project = object({
  id: isId,
  name: text,
  platform_id: maybe(text),
  region_id: maybe(text),
  provisioner: maybe(text),
  pg_version: maybe(number),
  /** CU-seconds, in spite of its name. */
  cpu_used_sec: maybe(number),
  /** Seconds (public service). */
  active_time: maybe(number),
  locked: maybe(flag),
  branch_logical_size_limit: maybe(number),
  proxy_host: maybe(text),
  created_at: maybe(timestamp),
  updated_at: maybe(timestamp),
});
export type Project = Value<typeof Project>;

/**
 * A branch (public service). Its root has no `parent_id`. The counters start with the billing period;
 * `compute_time_seconds` is in CU-seconds.
 */
export const Branch = object({
  id: isId,
  name: text,
  parent_id: maybe(isId),
  current_state: maybe(open<'init' | 'resetting' | 'ready' | 'archived'>()),
  default: maybe(flag),
  protected: maybe(flag),
  expires_at: maybe(timestamp),
  logical_size: maybe(number),
  compute_time_seconds: maybe(number),
  active_time_seconds: maybe(number),
  written_data_bytes: maybe(number),
  data_transfer_bytes: maybe(number),
  created_at: maybe(timestamp),
  updated_at: maybe(timestamp),
});
export type Branch = Value<typeof Branch>;

/** Postgres settings by name. The public service takes and returns only text. */
export type PgSettings = Record<string, string>;

/**
 * A compute (section 2.5). Sizes are in compute units; for `suspend_timeout_seconds` see `autosuspend.ts`. Only the local
 * service has a `pooler_host`; the public service's is derived from `host`.
 */
export const Compute = object({
  id: isComputeId,
  host: isHost,
  project_id: isId,
  branch_id: isId,
  type: open<'read_write' | 'read_only'>(),
  current_state: open<'init' | 'active' | 'idle'>(),
  pending_state: maybe(open<'active' | 'idle'>()),
  name: maybe(text),
  region_id: maybe(text),
  autoscaling_limit_min_cu: maybe(number),
  autoscaling_limit_max_cu: maybe(number),
  suspend_timeout_seconds: maybe(number),
  settings: maybe(object({ pg_settings: maybe(dictionary) })),
  pooler_enabled: maybe(flag),
  pooler_mode: maybe(text),
  pooler_host: maybe(isHost),
  disabled: maybe(flag),
  passwordless_access: maybe(flag),
  last_active: maybe(timestamp),
  created_at: maybe(timestamp),
  updated_at: maybe(timestamp),
  proxy_host: maybe(text),
  /** Open client connections. Only the local service returns it, for a single compute. */
  connections: maybe(number),
});
export type Compute = Value<typeof Compute>;

/** A background action on a compute (section 2.6). `error` is the service's message if it failed. */
export const Operation = object({
  id: text,
  project_id: text,
  branch_id: maybe(text),
  endpoint_id: maybe(text),
  action: open<'start_compute' | 'apply_config' | 'suspend_compute'>(),
  status: open<'scheduling' | 'running' | 'finished' | 'failed'>(),
  failures_count: maybe(number),
  error: maybe(longText),
  created_at: maybe(timestamp),
  updated_at: maybe(timestamp),
});
export type Operation = Value<typeof Operation>;

/** A name or password without control characters, which would break files and terminals that it is put into. */
const printable = (value: unknown): value is string =>
  // oxlint-disable-next-line no-control-regex
  text(value) && value !== '' && !/[\u0000-\u001f\u007f]/.test(value);

/** A database of a branch (public service). */
export const Database = object({ name: printable, owner_name: printable });
export type Database = Value<typeof Database>;

/** A Postgres role of a branch (public service). */
export const Role = object({
  name: printable,
  authentication_method: maybe(open<'password' | 'no_login'>()),
});
export type Role = Value<typeof Role>;

/** A role with a new password, so it is a secret. */
export const ResetRole = object({ name: printable, password: printable });

/** How the service knows the sender of a request (public service). */
export const Authentication = object({ auth_method: open<'api_key_user' | 'api_key_org'>() });

/** Of the account's user (public service). */
export const Organization = object({ id: isId, name: text });
export type Organization = Value<typeof Organization>;

/** The body of every error (public service; `request_id` may be missing). */
export const ErrorBody = object({
  request_id: maybe(longText),
  code: maybe(longText),
  message: longText,
});
export type ErrorBody = Value<typeof ErrorBody>;

/** Contains a password, so it is a secret. */
export const ConnectionUri = object({ uri: isConnectionUri });
