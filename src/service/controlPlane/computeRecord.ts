/** How a compute's record comes to be and changes: pure functions, no rules. */
import { DEFAULT_SIZE, type SizeRange } from '../../api/records/sizes.ts';
import type { ComputeChange, ComputeCreation } from '../../api/records/requests.ts';
import { timestamp } from '../core/clock.ts';
import type { ComputeAddress, ComputeSpec } from '../core/computeEngine.ts';
import type { ComputeRecord, ProjectRecord, StoredCompute } from '../state/storedRecords.ts';

const hostOf = (port: number): string => `127.0.0.1:${port}`;

/** The size a new compute gets: a bound that was not given is the default, or the other bound where that fits better. */
export function sizeOfNew(wanted: Pick<ComputeCreation, SizeFields>): SizeRange {
  const { autoscaling_limit_min_cu: min, autoscaling_limit_max_cu: max } = wanted;
  if (min !== undefined) return { min, max: max ?? Math.max(min, DEFAULT_SIZE.max) };
  return { min: DEFAULT_SIZE.min, max: max ?? DEFAULT_SIZE.max };
}
type SizeFields = 'autoscaling_limit_min_cu' | 'autoscaling_limit_max_cu';

export interface NewCompute {
  readonly id: string;
  readonly project: ProjectRecord;
  readonly wanted: ComputeCreation;
  readonly address: ComputeAddress;
  readonly now: number;
}

/** A compute that nobody has started yet: `init`. */
export function newCompute({ id, project, wanted, address, now }: NewCompute): StoredCompute {
  const size = sizeOfNew(wanted);
  const record: ComputeRecord = {
    id,
    ...(wanted.name === undefined ? {} : { name: wanted.name }),
    host: hostOf(address.port),
    project_id: project.id,
    branch_id: wanted.branch_id,
    type: wanted.type,
    region_id: project.region_id,
    autoscaling_limit_min_cu: size.min,
    autoscaling_limit_max_cu: size.max,
    suspend_timeout_seconds: wanted.suspend_timeout_seconds ?? 0,
    current_state: 'init',
    settings: { pg_settings: wanted.settings?.pg_settings ?? {} },
    pooler_enabled: wanted.pooler_enabled ?? false,
    pooler_mode: 'transaction',
    ...poolerHost(wanted.pooler_enabled ?? false, address),
    disabled: wanted.disabled ?? false,
    passwordless_access: wanted.passwordless_access ?? false,
    created_at: timestamp(now),
    updated_at: timestamp(now),
    proxy_host: project.proxy_host,
  };
  return { record, address };
}

const poolerHost = (enabled: boolean, address: ComputeAddress): { pooler_host?: string } =>
  enabled ? { pooler_host: hostOf(address.poolerPort) } : {};

/** The record with the wanted attributes; state and operations are the caller's. */
export function applyChange(
  { record, address }: StoredCompute,
  wanted: ComputeChange,
  now: number,
): ComputeRecord {
  const { pooler_host: _, ...rest } = record;
  const pooler = wanted.pooler_enabled ?? record.pooler_enabled;
  return {
    ...rest,
    ...(wanted.name === undefined ? {} : { name: wanted.name }),
    branch_id: wanted.branch_id ?? record.branch_id,
    autoscaling_limit_min_cu: wanted.autoscaling_limit_min_cu ?? record.autoscaling_limit_min_cu,
    autoscaling_limit_max_cu: wanted.autoscaling_limit_max_cu ?? record.autoscaling_limit_max_cu,
    suspend_timeout_seconds: wanted.suspend_timeout_seconds ?? record.suspend_timeout_seconds,
    settings: { pg_settings: wanted.settings?.pg_settings ?? record.settings.pg_settings },
    pooler_enabled: pooler,
    ...poolerHost(pooler, address),
    disabled: wanted.disabled ?? record.disabled,
    passwordless_access: wanted.passwordless_access ?? record.passwordless_access,
    updated_at: timestamp(now),
  };
}

export interface StateChange {
  readonly current?: ComputeRecord['current_state'];
  /** Undefined: no change is in progress (any more). */
  readonly pending: 'active' | 'idle' | undefined;
  /** Milliseconds; undefined leaves it as it is. */
  readonly lastActive?: number;
}

/** The record in another state (section 3.1). */
export function withState(record: ComputeRecord, state: StateChange, now: number): ComputeRecord {
  const { pending_state: _, ...rest } = record;
  return {
    ...rest,
    current_state: state.current ?? record.current_state,
    ...(state.pending === undefined ? {} : { pending_state: state.pending }),
    ...(state.lastActive === undefined ? {} : { last_active: timestamp(state.lastActive) }),
    updated_at: timestamp(now),
  };
}

/** What an engine needs to know of the compute. */
export const specOf = (
  record: ComputeRecord,
  address: ComputeAddress,
  project: ProjectRecord,
): ComputeSpec => ({
  id: record.id,
  projectId: record.project_id,
  branchId: record.branch_id,
  type: record.type,
  pgVersion: project.pg_version,
  minCu: record.autoscaling_limit_min_cu,
  maxCu: record.autoscaling_limit_max_cu,
  pgSettings: record.settings.pg_settings,
  poolerEnabled: record.pooler_enabled,
  disabled: record.disabled,
  address,
});
