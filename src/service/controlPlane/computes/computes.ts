/** The calls that change computes: check the rules, record the change, start the operations. */
import { isDeepStrictEqual } from 'node:util';
import type { ComputePatch, ComputeCreation } from '../../../api/records/requests.ts';
import { EngineError, type ComputeEngine } from '../../core/computeEngine.ts';
import { conflict, notFound, unprocessable } from '../../core/serviceErrors.ts';
import type { AccountState, ProjectState } from '../../state/accountState.ts';
import type {
  ComputeRecord,
  OperationRecord,
  ComputeStep,
  Mutation,
  ProjectRecord,
  StoredCompute,
} from '../../state/storedRecords.ts';
import { findBranch } from '../records/branchRecord.ts';
import {
  withComputePatch,
  newCompute,
  requireNoPrimary,
  requirePostgres,
  requireProvisioner,
  requireValidCreation,
  requireValidSize,
  computeSpec,
  withComputeState,
  type Allocation,
} from '../records/computeRecord.ts';
import { generateId } from '../records/generateId.ts';
import { computeTask } from '../records/operationRecord.ts';
import type { ControlPlaneContext } from '../operations/operations.ts';
import { usageMutations, computeMutations } from '../records/countUsage.ts';

interface ComputeResult {
  readonly endpoint: ComputeRecord;
  readonly operations: readonly OperationRecord[];
}

/** @throws {HttpError} 404 */
export function findCompute(project: ProjectState, id: string): StoredCompute {
  const compute = project.computes.get(id);
  if (compute === undefined) throw notFound(`compute in project ${project.record.id} with the id`, id);
  return compute;
}

export async function createCompute(
  plane: ControlPlaneContext,
  project: ProjectState,
  creation: ComputeCreation,
): Promise<ComputeResult> {
  requireCreatable(plane, project, creation);
  const engine = await plane.engine;
  if (creation.disabled !== true) requirePostgres(engine);
  const allocation = await allocateForCompute(engine, plane.store.account);
  // Another call may have taken the branch in the meantime.
  requireCreatable(plane, project, creation);
  const compute = newPendingCompute(plane, project.record, creation, allocation);
  return beginOnCompute(plane, compute, [{ kind: compute.record.disabled ? 'attach' : 'start' }]);
}

function requireCreatable(
  plane: ControlPlaneContext,
  project: ProjectState,
  creation: ComputeCreation,
): void {
  findBranch(project, creation.branch_id);
  plane.operations.requireFree(creation.branch_id);
  requireValidCreation(project.record, creation, plane.plan);
  if (creation.type === 'read_write') requireNoPrimary(project, creation.branch_id);
}

export async function updateCompute(
  plane: ControlPlaneContext,
  project: ProjectState,
  id: string,
  patch: ComputePatch,
): Promise<ComputeResult> {
  const engine = patch.settings === undefined ? undefined : await plane.engine;
  const compute = findFreeCompute(plane, project, id);
  const now = plane.clock.now();
  const next = withComputePatch(compute, patch, now);
  requireValidUpdate(plane, project, compute.record, next, patch);
  // Postgres itself checks new settings, so it must be there.
  if (engine !== undefined && !isDeepStrictEqual(next.settings, compute.record.settings))
    requirePostgres(engine);
  const { steps, pending } = updateSteps(compute, next);
  if (steps.length > 0)
    return beginOnCompute(plane, { ...compute, record: withComputeState(next, { pending }, now) }, steps);
  plane.store.commit({ set: 'compute', value: { ...compute, record: next } });
  return { endpoint: next, operations: [] };
}

function requireValidUpdate(
  { operations, plan }: ControlPlaneContext,
  project: ProjectState,
  before: ComputeRecord,
  next: ComputeRecord,
  patch: ComputePatch,
): void {
  requireProvisioner(project.record, patch.provisioner);
  findBranch(project, next.branch_id);
  if (patch.autoscaling_limit_min_cu !== undefined || patch.autoscaling_limit_max_cu !== undefined) {
    const { autoscaling_limit_min_cu: min, autoscaling_limit_max_cu: max } = next;
    requireValidSize({ min, max }, plan);
  }
  if (next.branch_id === before.branch_id) return;
  operations.requireFree(next.branch_id);
  if (next.type === 'read_write') requireNoPrimary(project, next.branch_id, before.id);
}

/** Returns undefined if there is no such compute. */
export function deleteCompute(
  plane: ControlPlaneContext,
  project: ProjectState,
  id: string,
): ComputeResult | undefined {
  if (!project.computes.has(id)) return undefined;
  const compute = findFreeCompute(plane, project, id);
  const { store, clock, operations } = plane;
  const { type, branch_id, project_id: projectId } = compute.record;
  if (project.branches.get(branch_id)?.protected === true)
    throw unprocessable(
      `Compute ${id} is on the protected branch ${branch_id}. Remove the protection first.`,
    );
  const { record } = withPendingState(plane, compute, 'idle');
  const started = operations.begin(
    projectId,
    [computeTask(record, { kind: 'remove', type })],
    [...usageMutations(store.account, compute, clock.now()), { removed: 'compute', projectId, id }],
  );
  return { endpoint: record, operations: started };
}

export async function restartCompute(
  plane: ControlPlaneContext,
  project: ProjectState,
  id: string,
): Promise<ComputeResult> {
  const compute = await requireStartable(plane, project, id);
  const isActive = compute.record.current_state === 'active';
  if (isActive) return beginRestart(plane, compute);
  return beginOnCompute(plane, withPendingState(plane, compute, 'active'), [{ kind: 'start' }]);
}

/** @param compute active, and no operation runs on it */
export const beginRestart = (plane: ControlPlaneContext, compute: StoredCompute): ComputeResult =>
  beginOnCompute(plane, withPendingState(plane, compute, 'active'), [{ kind: 'suspend' }, { kind: 'start' }]);

/** Starts a compute. Does nothing if it is active. */
export async function startCompute(
  plane: ControlPlaneContext,
  project: ProjectState,
  id: string,
): Promise<ComputeResult> {
  const compute = await requireStartable(plane, project, id);
  if (compute.record.current_state === 'active') return { endpoint: compute.record, operations: [] };
  return beginOnCompute(plane, withPendingState(plane, compute, 'active'), [{ kind: 'start' }]);
}

/** Starts the compute for a client that waits at its address, even if the record says that the compute is active. */
export function startForClient(plane: ControlPlaneContext, project: ProjectState, id: string): ComputeResult {
  const compute = findEnabled(plane, project, id);
  return beginOnCompute(plane, withPendingState(plane, compute, 'active'), [{ kind: 'start' }], 'connection');
}

/** @throws {HttpError} 404; 409 if the compute can't start; 423 */
async function requireStartable(
  plane: ControlPlaneContext,
  project: ProjectState,
  id: string,
): Promise<StoredCompute> {
  findCompute(project, id);
  requirePostgres(await plane.engine);
  return findEnabled(plane, project, id);
}

function findEnabled(plane: ControlPlaneContext, project: ProjectState, id: string): StoredCompute {
  const compute = findFreeCompute(plane, project, id);
  if (compute.record.disabled)
    throw conflict(`Compute ${id} is disabled. Enable it first (disabled: false).`);
  return compute;
}

/** Suspends a compute. Does nothing if it is idle. */
export function suspendCompute(
  plane: ControlPlaneContext,
  project: ProjectState,
  id: string,
  trigger?: 'inactivity',
): ComputeResult {
  const compute = findFreeCompute(plane, project, id);
  if (compute.record.current_state === 'idle') return { endpoint: compute.record, operations: [] };
  return beginOnCompute(plane, withPendingState(plane, compute, 'idle'), [{ kind: 'suspend' }], trigger);
}

/** @throws {HttpError} 423 while an operation runs on the compute */
function findFreeCompute(
  { operations }: ControlPlaneContext,
  project: ProjectState,
  id: string,
): StoredCompute {
  const compute = findCompute(project, id);
  operations.requireFree(id);
  return compute;
}

export function withPendingState(
  { clock }: ControlPlaneContext,
  compute: StoredCompute,
  pending: 'active' | 'idle',
): StoredCompute {
  return { ...compute, record: withComputeState(compute.record, { pending }, clock.now()) };
}

/** Saves the compute and begins its steps. */
function beginOnCompute(
  { operations, store: { account }, clock }: ControlPlaneContext,
  compute: StoredCompute,
  steps: readonly ComputeStep[],
  trigger?: OperationRecord['triggered_by'],
): ComputeResult {
  const { record } = compute;
  const tasks = steps.map((step) => computeTask(record, step, trigger));
  const before = account.compute(record.id);
  // The usage until now is counted with the compute's earlier size and branch.
  const changes: Mutation[] =
    before === undefined
      ? [{ set: 'compute', value: compute }]
      : [...computeMutations(account, before, record, clock.now())];
  return {
    endpoint: record,
    // A client waits at the compute's address, so the disk isn't awaited.
    operations: operations.begin(record.project_id, tasks, changes, {
      startsBeforeDurable: trigger === 'connection',
    }),
  };
}

/** Returns the steps of an update and the state they lead to. If nothing changes for the engine, there are no steps. */
function updateSteps(
  compute: StoredCompute,
  next: ComputeRecord,
): { readonly steps: readonly ComputeStep[]; readonly pending: 'active' | 'idle' } {
  const { record } = compute;
  if (isDeepStrictEqual(computeSpec(compute), computeSpec({ ...compute, record: next })))
    return { steps: [], pending: 'idle' };
  const isActive = record.current_state === 'active';
  const apply: ComputeStep = { kind: 'apply', before: record };
  const isMove = next.branch_id !== record.branch_id;
  if (isMove || (next.disabled && isActive)) return { steps: [apply, { kind: 'suspend' }], pending: 'idle' };
  return { steps: [apply], pending: isActive ? 'active' : 'idle' };
}

/** Returns a new compute whose creation is pending. */
export function newPendingCompute(
  plane: ControlPlaneContext,
  project: ProjectRecord,
  creation: ComputeCreation,
  allocation: Allocation,
): StoredCompute {
  const id = newComputeId(plane.store.account);
  const compute = newCompute(id, project, creation, allocation, plane.clock.now());
  return withPendingState(plane, compute, compute.record.disabled ? 'idle' : 'active');
}

export const newComputeId = (account: AccountState): string => generateId('ep-', (id) => account.isTaken(id));

/**
 * Opens the addresses of computes whose branch is being created, so that clients that connect at once wait for it. A
 * failure is reported by the operation that starts the compute.
 */
export async function openComputeAddresses(
  engine: ComputeEngine,
  computes: readonly StoredCompute[],
): Promise<void> {
  await Promise.allSettled(computes.map((compute) => engine.attach(computeSpec(compute))));
}

/** The most attempts to find a free address: more than there are ports. */
const ADDRESS_ATTEMPTS = 32_000;

/**
 * Returns an address that no compute of the account has, whether it is active or not.
 * @param taken ports of computes that are created together with this one; the new ones are added
 */
export async function allocateForCompute(
  engine: ComputeEngine,
  { ports }: AccountState,
  taken = new Set<number>(),
): Promise<Allocation> {
  for (let attempt = 0; attempt < ADDRESS_ATTEMPTS; attempt += 1) {
    const address = await engine.allocateAddress();
    const own = [address.port, address.poolerPort];
    if (own.some((port) => ports.has(port) || taken.has(port))) continue;
    for (const port of own) taken.add(port);
    return { address, pooledSessions: engine.pooledSessions };
  }
  throw new EngineError('All ports of 127.0.0.1 belong to computes.');
}
