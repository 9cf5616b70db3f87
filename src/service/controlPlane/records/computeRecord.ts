/** Creates and changes the record of a compute, and checks the rules for it. Pure functions. */
import { POSTGRES_MISSING } from '../../../api/transport/errors.ts';
import type { ComputePatch, ComputeCreation } from '../../../api/records/requests.ts';
import {
  COMPUTE_SIZES,
  DEFAULT_SIZE,
  sizeProblem,
  sizesOfPlan,
  type Plan,
  type SizeRange,
} from '../../../api/rules/sizes.ts';
import { toTimestamp } from '../../core/serviceClock.ts';
import type { ComputeAddress, ComputeEngine, ComputeSpec, PooledSessions } from '../../core/computeEngine.ts';
import { conflict, HttpError, unprocessable } from '../../core/serviceErrors.ts';
import { lockedError, unfinishedOperations } from './operationRecord.ts';
import type { ProjectState } from '../../state/accountState.ts';
import {
  CREATION_SOURCE,
  type ComputeRecord,
  type ProjectRecord,
  type StoredCompute,
  type StoredOperation,
} from '../../state/storedRecords.ts';

const hostAtPort = (port: number): string => `127.0.0.1:${port}`;

type Creation = Omit<ComputeCreation, 'branch_id'>;

/** Adds the project's defaults. If the request sets one bound of the size, neither default bound is used. */
function withDefaults<T extends Creation>(creation: T, project: ProjectRecord): T {
  const { autoscaling_limit_min_cu, autoscaling_limit_max_cu, pg_settings, ...defaults } =
    project.default_endpoint_settings ?? {};
  const hasSize =
    creation.autoscaling_limit_min_cu !== undefined || creation.autoscaling_limit_max_cu !== undefined;
  return {
    ...(hasSize ? {} : { autoscaling_limit_min_cu, autoscaling_limit_max_cu }),
    ...(pg_settings === undefined ? {} : { settings: { pg_settings } }),
    ...defaults,
    ...creation,
  };
}

/** A missing bound of the size is the default, or the other bound if that is larger. */
function requestedSize({ autoscaling_limit_min_cu, autoscaling_limit_max_cu }: Creation): SizeRange {
  const min = autoscaling_limit_min_cu ?? DEFAULT_SIZE.min;
  return { min, max: autoscaling_limit_max_cu ?? Math.max(min, DEFAULT_SIZE.max) };
}

/** What the engine decides about a new compute. */
export interface Allocation {
  readonly address: ComputeAddress;
  readonly pooledSessions: PooledSessions;
}

/** Returns a compute that has never been started: its state is `init`. */
export function newCompute(
  id: string,
  project: ProjectRecord,
  requested: ComputeCreation,
  { address, pooledSessions }: Allocation,
  now: number,
): StoredCompute {
  const creation = withDefaults(requested, project);
  const size = requestedSize(creation);
  const record: ComputeRecord = {
    id,
    name: creation.name,
    host: hostAtPort(address.port),
    project_id: project.id,
    branch_id: creation.branch_id,
    type: creation.type,
    region_id: project.region_id,
    provisioner: project.provisioner,
    autoscaling_limit_min_cu: size.min,
    autoscaling_limit_max_cu: size.max,
    suspend_timeout_seconds: creation.suspend_timeout_seconds ?? 0,
    current_state: 'init',
    settings: { pg_settings: creation.settings?.pg_settings ?? {} },
    pooler_enabled: creation.pooler_enabled ?? false,
    pooler_mode: 'transaction',
    pooled_sessions: pooledSessions,
    pooler_host: creation.pooler_enabled === true ? poolerHost({ address }) : undefined,
    disabled: creation.disabled ?? false,
    passwordless_access: creation.passwordless_access ?? false,
    creation_source: CREATION_SOURCE,
    created_at: toTimestamp(now),
    updated_at: toTimestamp(now),
    proxy_host: project.proxy_host,
  };
  return { record, address, logicalReplication: project.settings?.enable_logical_replication };
}

/** Returns the host of the pooled address. Every compute has one, like on the public service, also if `pooler_enabled` is false. */
export const poolerHost = ({ address }: Pick<StoredCompute, 'address'>): string =>
  hostAtPort(address.poolerPort);

/** Returns the record with the attributes of the request. The caller updates the state. */
export function withComputePatch(
  { record, address }: StoredCompute,
  patch: ComputePatch,
  now: number,
): ComputeRecord {
  const pooler_enabled = patch.pooler_enabled ?? record.pooler_enabled;
  return {
    ...record,
    name: patch.name ?? record.name,
    branch_id: patch.branch_id ?? record.branch_id,
    autoscaling_limit_min_cu: patch.autoscaling_limit_min_cu ?? record.autoscaling_limit_min_cu,
    autoscaling_limit_max_cu: patch.autoscaling_limit_max_cu ?? record.autoscaling_limit_max_cu,
    suspend_timeout_seconds: patch.suspend_timeout_seconds ?? record.suspend_timeout_seconds,
    settings: { pg_settings: patch.settings?.pg_settings ?? record.settings.pg_settings },
    pooler_enabled,
    pooler_host: pooler_enabled ? poolerHost({ address }) : undefined,
    disabled: patch.disabled ?? record.disabled,
    passwordless_access: patch.passwordless_access ?? record.passwordless_access,
    updated_at: toTimestamp(now),
  };
}

interface ComputeState {
  readonly current?: ComputeRecord['current_state'];
  /** Undefined if no operation is in progress. */
  readonly pending: ComputeRecord['pending_state'];
  /** Milliseconds since 1970. Undefined leaves the stored time unchanged. */
  readonly lastActive?: number;
  /** Why the compute is idle, for users. Undefined leaves the reason unchanged, unless the compute becomes active, which removes it. */
  readonly error?: string | undefined;
}

/** Returns the record in another state. */
export function withComputeState(record: ComputeRecord, state: ComputeState, now: number): ComputeRecord {
  return {
    ...record,
    current_state: state.current ?? record.current_state,
    pending_state: state.pending,
    last_active: state.lastActive === undefined ? record.last_active : toTimestamp(state.lastActive),
    last_error: state.current === 'active' ? undefined : (state.error ?? record.last_error),
    updated_at: toTimestamp(now),
  };
}

/** Returns what the engine needs to know about the compute. */
export const computeSpec = ({ record, address, logicalReplication }: StoredCompute): ComputeSpec => ({
  id: record.id,
  branchId: record.branch_id,
  type: record.type,
  minCu: record.autoscaling_limit_min_cu,
  maxCu: record.autoscaling_limit_max_cu,
  pgSettings: record.settings.pg_settings,
  poolerEnabled: record.pooler_enabled,
  disabled: record.disabled,
  address,
  logicalReplication,
});

/**
 * Requires that the branch has no primary, because it may have only one. While its primary is being moved or removed, the branch still
 * counts as taken, because a move may fail.
 * @param exceptId the compute that may be its primary @throws {HttpError} 409 or 423
 */
export function requireNoPrimary(project: ProjectState, branchId: string, exceptId?: string): void {
  for (const { record } of project.computes.values()) {
    if (record.id === exceptId || record.type !== 'read_write' || record.branch_id !== branchId) continue;
    throw conflict(`Branch ${branchId} already has a primary read-write compute: ${record.id}.`);
  }
  const leaving = unfinishedOperations(project)
    .filter(({ record }) => record.endpoint_id !== exceptId)
    .find((operation) => removesPrimaryFrom(operation, branchId));
  if (leaving !== undefined) throw lockedError(leaving, 'The primary compute is still leaving the branch.');
}

function removesPrimaryFrom({ step, record }: StoredOperation, branchId: string): boolean {
  if (step.kind === 'apply') return step.before.type === 'read_write' && step.before.branch_id === branchId;
  return step.kind === 'remove' && step.type === 'read_write' && record.branch_id === branchId;
}

/** Checks what does not depend on the branch. @throws {HttpError} 422 */
export function requireValidCreation(project: ProjectRecord, creation: Creation, plan: Plan): void {
  const { region_id } = creation;
  if (region_id !== undefined && region_id !== project.region_id)
    throw unprocessable(`region_id must be that of the project, ${project.region_id}.`);
  requireProvisioner(project, creation.provisioner);
  requireValidSize(requestedSize(withDefaults(creation, project)), plan);
}

const LIST_OF_SIZES = COMPUTE_SIZES.map(({ cu }) => cu).join(', ');

/** @throws {HttpError} 422 */
export function requireValidSize(range: SizeRange, plan: Plan): void {
  switch (sizeProblem(range, plan)) {
    case 'not-a-size':
      throw unprocessable(
        `autoscaling_limit_min_cu and autoscaling_limit_max_cu must each be one of ${LIST_OF_SIZES} CU.`,
      );
    case 'min-above-max':
      throw unprocessable(
        `autoscaling_limit_min_cu (${range.min}) is above autoscaling_limit_max_cu (${range.max}).`,
      );
    case 'above-plan': {
      const largest = sizesOfPlan(plan).at(-1)?.cu;
      throw new HttpError(
        422,
        'PLAN_LIMIT',
        `The ${plan} plan allows computes up to ${largest} CU, not ${range.max} CU.`,
      );
    }
    case undefined:
  }
}

/** The provisioner of new projects. Clients of the public service may treat an unknown one as an error. */
export const PROVISIONER = 'k8s-neonvm';
/** The provisioners of the public service. Clients may send any of them for any project. */
const PUBLIC_PROVISIONERS: readonly string[] = [PROVISIONER, 'k8s-pod', 'serverless-platform'];

/** @throws {HttpError} 422 */
export function requireProvisioner({ provisioner }: ProjectRecord, requested = provisioner): void {
  if (requested === provisioner || PUBLIC_PROVISIONERS.includes(requested)) return;
  throw unprocessable(`provisioner must be that of the project, ${provisioner}.`);
}

/** @throws {HttpError} 409 if no compute can start */
export function requirePostgres({ postgresProblem }: ComputeEngine): void {
  if (postgresProblem !== undefined) throw new HttpError(409, POSTGRES_MISSING, postgresProblem);
}
