/**
 * The service's resources (section 2) as zod records. Unknown fields pass through. States, types, actions and
 * statuses are open strings: the specification names only the values it has seen, so a new one is data, not an error.
 * Required is only what the product cannot do without; a field the service drops must not make a record unreadable.
 */
import * as z from 'zod/mini';
import { isApiKeyId, isComputeId, isId } from './ids.ts';

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

/** Longer than any name or host; beyond it, a text would only choke whoever shows it. */
const text = z.string().check(z.maxLength(4096));
const open = <Known extends string>() => text as unknown as z.ZodMiniType<Open<Known>, string>;
const timestamp = text;
const id = z.string().check(z.refine(isId));
const keyId = z.int().check(z.refine(isApiKeyId));
const maybe = <T extends z.core.SomeType>(type: T) => z.optional(z.nullable(type));

/** An API key in a list (section 2.1). Timestamps are ISO 8601 UTC. */
export const ApiKey = z.looseObject({
  id: keyId,
  name: text,
  created_at: maybe(timestamp),
  last_used_at: maybe(timestamp),
  last_used_from_addr: maybe(text),
});
export type ApiKey = z.infer<typeof ApiKey>;

/** A new API key with its secret value, which is in this reply only (section 2.2). */
export const CreatedApiKey = z.looseObject({ id: keyId, key: z.string().check(z.minLength(1)) });
export type CreatedApiKey = z.infer<typeof CreatedApiKey>;

/** What revoking a key answers (section 2.3). */
export const RevokedApiKey = z.looseObject({
  id: keyId,
  name: maybe(text),
  revoked: z.boolean(),
  last_used_at: maybe(timestamp),
  last_used_from_addr: maybe(text),
});
export type RevokedApiKey = z.infer<typeof RevokedApiKey>;

/** A project as listed (section 2.4). `branch_logical_size_limit` in MiB, `cpu_used_sec` in seconds. */
export const Project = z.looseObject({
  id,
  name: text,
  platform_id: maybe(text),
  region_id: maybe(text),
  provisioner: maybe(text),
  pg_version: maybe(z.number()),
  cpu_used_sec: maybe(z.number()),
  locked: maybe(z.boolean()),
  branch_logical_size_limit: maybe(z.number()),
  proxy_host: maybe(text),
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
  id: z.string().check(z.refine(isComputeId)),
  host: text,
  project_id: id,
  branch_id: id,
  type: open<'read_write' | 'read_only'>(),
  current_state: open<'init' | 'active' | 'idle'>(),
  pending_state: maybe(open<'active' | 'idle'>()),
  name: maybe(text),
  region_id: maybe(text),
  autoscaling_limit_min_cu: maybe(z.number()),
  autoscaling_limit_max_cu: maybe(z.number()),
  suspend_timeout_seconds: maybe(z.number()),
  settings: maybe(z.looseObject({ pg_settings: maybe(z.record(z.string(), z.unknown())) })),
  pooler_enabled: maybe(z.boolean()),
  pooler_mode: maybe(text),
  pooler_host: maybe(text),
  disabled: maybe(z.boolean()),
  passwordless_access: maybe(z.boolean()),
  last_active: maybe(timestamp),
  created_at: maybe(timestamp),
  updated_at: maybe(timestamp),
  proxy_host: maybe(text),
});
export type Compute = z.infer<typeof Compute>;

/** A background action on a compute (section 2.6). `error` holds the service's words when it failed. */
export const Operation = z.looseObject({
  id: text,
  project_id: text,
  branch_id: maybe(text),
  endpoint_id: maybe(text),
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
