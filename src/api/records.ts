/**
 * The service's resources (section 2) as zod records. Unknown fields pass through. States, types, actions and
 * statuses are open strings: the specification names only the values it has seen, so a new one is data, not an error.
 * Required is only what the product cannot do without; a field the service drops must not make a record unreadable.
 */
import * as z from 'zod/mini';

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

const open = <Known extends string>() => z.string() as unknown as z.ZodMiniType<Open<Known>, string>;
const timestamp = z.string();
const maybe = <T extends z.core.SomeType>(type: T) => z.optional(z.nullable(type));

/** An API key in a list (section 2.1). Timestamps are ISO 8601 UTC. */
export const ApiKey = z.looseObject({
  id: z.int(),
  name: z.string(),
  created_at: maybe(timestamp),
  last_used_at: maybe(timestamp),
  last_used_from_addr: maybe(z.string()),
});
export type ApiKey = z.infer<typeof ApiKey>;

/** A new API key with its secret value, which is in this reply only (section 2.2). */
export const CreatedApiKey = z.looseObject({ id: z.int(), key: z.string().check(z.minLength(1)) });
export type CreatedApiKey = z.infer<typeof CreatedApiKey>;

/** What revoking a key answers (section 2.3). */
export const RevokedApiKey = z.looseObject({
  id: z.int(),
  name: maybe(z.string()),
  revoked: z.boolean(),
  last_used_at: maybe(timestamp),
  last_used_from_addr: maybe(z.string()),
});
export type RevokedApiKey = z.infer<typeof RevokedApiKey>;

/** A project as listed (section 2.4). `branch_logical_size_limit` in MiB, `cpu_used_sec` in seconds. */
export const Project = z.looseObject({
  id: z.string(),
  name: z.string(),
  platform_id: maybe(z.string()),
  region_id: maybe(z.string()),
  provisioner: maybe(z.string()),
  pg_version: maybe(z.number()),
  cpu_used_sec: maybe(z.number()),
  locked: maybe(z.boolean()),
  branch_logical_size_limit: maybe(z.number()),
  proxy_host: maybe(z.string()),
  created_at: maybe(timestamp),
  updated_at: maybe(timestamp),
});
export type Project = z.infer<typeof Project>;

export const PgSettings = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]));
export type PgSettings = z.infer<typeof PgSettings>;

/**
 * A compute (section 2.5). Sizes in compute units; `suspend_timeout_seconds` as in `autosuspend.ts`.
 * `pooler_host` is where the local service takes pooled connections; the public service derives it from `host`.
 */
export const Compute = z.looseObject({
  id: z.string(),
  host: z.string(),
  project_id: z.string(),
  branch_id: z.string(),
  type: open<'read_write' | 'read_only'>(),
  current_state: open<'init' | 'active' | 'idle'>(),
  pending_state: maybe(open<'active' | 'idle'>()),
  name: maybe(z.string()),
  region_id: maybe(z.string()),
  autoscaling_limit_min_cu: maybe(z.number()),
  autoscaling_limit_max_cu: maybe(z.number()),
  suspend_timeout_seconds: maybe(z.number()),
  settings: maybe(z.looseObject({ pg_settings: maybe(z.record(z.string(), z.unknown())) })),
  pooler_enabled: maybe(z.boolean()),
  pooler_mode: maybe(z.string()),
  pooler_host: maybe(z.string()),
  disabled: maybe(z.boolean()),
  passwordless_access: maybe(z.boolean()),
  last_active: maybe(timestamp),
  created_at: maybe(timestamp),
  updated_at: maybe(timestamp),
  proxy_host: maybe(z.string()),
});
export type Compute = z.infer<typeof Compute>;

/** A background action on a compute (section 2.6). `error` holds the service's words when it failed. */
export const Operation = z.looseObject({
  id: z.string(),
  project_id: z.string(),
  branch_id: maybe(z.string()),
  endpoint_id: maybe(z.string()),
  action: open<'start_compute' | 'apply_config' | 'suspend_compute'>(),
  status: open<'scheduling' | 'running' | 'finished' | 'failed'>(),
  failures_count: maybe(z.number()),
  error: maybe(z.string()),
  created_at: maybe(timestamp),
  updated_at: maybe(timestamp),
});
export type Operation = z.infer<typeof Operation>;

/** The body of every error (public service; `request_id` may be missing). */
export const ErrorBody = z.looseObject({
  request_id: maybe(z.string()),
  code: maybe(z.string()),
  message: z.string(),
});
export type ErrorBody = z.infer<typeof ErrorBody>;

/** A connection URI with a password in it: a secret. */
export const ConnectionUri = z.looseObject({ uri: z.string().check(z.minLength(1)) });
