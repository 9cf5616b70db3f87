/** The calls that change computes (section 4.3): check the rules, record the change, start the operations. */
import type { ComputePatch, ComputeCreation } from '../../api/records/requests.ts';
import { isEqual } from '../../base/equal.ts';
import { EngineError, type ComputeEngine } from '../core/computeEngine.ts';
import { conflict, notFound, unprocessable } from '../core/errors.ts';
import type { AccountState, ProjectState } from '../state/store.ts';
import type {
  ComputeRecord,
  OperationRecord,
  OperationStep,
  ProjectRecord,
  StoredCompute,
} from '../state/storedRecords.ts';
import { findBranch } from './branches/branchRecord.ts';
import {
  applyPatch,
  newCompute,
  requireNoPrimary,
  requirePostgres,
  requireProvisioner,
  requireValid,
  requireValidSize,
  specOf,
  withState,
  type Allocation,
} from './computeRecord.ts';
import { generateId } from './generateId.ts';
import { computeTarget } from './operationRecord.ts';
import type { PlaneDependencies, Operations } from './operations.ts';
import { countUsage } from './usage.ts';

interface ComputesDependencies extends PlaneDependencies {
  readonly operations: Operations;
}

interface ComputeResult {
  readonly endpoint: ComputeRecord;
  readonly operations: readonly OperationRecord[];
}

export class Computes {
  readonly #deps: ComputesDependencies;

  constructor(deps: ComputesDependencies) {
    this.#deps = deps;
  }

  /** @throws {HttpError} 404 */
  find(project: ProjectState, id: string): StoredCompute {
    const compute = project.computes.get(id);
    if (compute === undefined) throw notFound(`compute in project ${project.record.id} with the id`, id);
    return compute;
  }

  async create(project: ProjectState, creation: ComputeCreation): Promise<ComputeResult> {
    const { store, clock } = this.#deps;
    this.#requireCreatable(project, creation);
    const engine = await this.#deps.engine;
    if (creation.disabled !== true) requirePostgres(engine);
    const allocation = await allocate(engine, store.account);
    // Another call may have taken the branch in the meantime.
    this.#requireCreatable(project, creation);
    const compute = prepareCompute(store.account, project.record, creation, allocation, clock.now());
    return this.#begin(project, compute, [{ kind: compute.record.disabled ? 'attach' : 'start' }]);
  }

  #requireCreatable(project: ProjectState, creation: ComputeCreation): void {
    findBranch(project, creation.branch_id);
    this.#deps.operations.requireFree(creation.branch_id);
    requireValid(project.record, creation, this.#deps.plan);
    if (creation.type === 'read_write') requireNoPrimary(project, creation.branch_id);
  }

  async update(project: ProjectState, id: string, patch: ComputePatch): Promise<ComputeResult> {
    const engine = patch.settings === undefined ? undefined : await this.#deps.engine;
    const compute = this.#findFree(project, id);
    const now = this.#deps.clock.now();
    const next = applyPatch(compute, patch, now);
    this.#requireValidUpdate(project, compute.record, next, patch);
    // Postgres itself checks new settings.
    if (engine !== undefined && !isEqual(next.settings, compute.record.settings)) requirePostgres(engine);
    const { steps, pending } = stepsOfUpdate(compute, next);
    if (steps.length > 0) {
      return this.#begin(project, { ...compute, record: withState(next, { pending }, now) }, steps);
    }
    this.#deps.store.commit({ set: 'compute', value: { ...compute, record: next } });
    return { endpoint: next, operations: [] };
  }

  #requireValidUpdate(
    project: ProjectState,
    before: ComputeRecord,
    next: ComputeRecord,
    patch: ComputePatch,
  ): void {
    const { operations, plan } = this.#deps;
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
  delete(project: ProjectState, id: string): ComputeResult | undefined {
    if (!project.computes.has(id)) return undefined;
    const compute = this.#findFree(project, id);
    const { store, clock, operations } = this.#deps;
    const { type, branch_id } = compute.record;
    if (project.branches.get(branch_id)?.protected === true)
      throw unprocessable(
        `Compute ${id} is on the protected branch ${branch_id}. Remove the protection first.`,
      );
    const { record } = this.#pending(compute, 'idle');
    const task = { step: { kind: 'remove', type }, target: computeTarget(record) } as const;
    const started = operations.begin(
      project.record.id,
      [task],
      [
        ...countUsage(store.account, compute, clock.now()),
        { removed: 'compute', projectId: project.record.id, id },
      ],
    );
    return { endpoint: record, operations: started };
  }

  async restart(project: ProjectState, id: string): Promise<ComputeResult> {
    const compute = await this.#findStartable(project, id);
    const steps: OperationStep[] = [{ kind: 'start' }];
    if (compute.record.current_state === 'active') steps.unshift({ kind: 'suspend' });
    return this.#begin(project, this.#pending(compute, 'active'), steps);
  }

  /** Does nothing if the compute is active. */
  async start(project: ProjectState, id: string): Promise<ComputeResult> {
    const compute = await this.#findStartable(project, id);
    if (compute.record.current_state === 'active') return { endpoint: compute.record, operations: [] };
    return this.#begin(project, this.#pending(compute, 'active'), [{ kind: 'start' }]);
  }

  /** For a client that waits at the compute's address, even if the record says that the compute is active. */
  startForClient(project: ProjectState, id: string): ComputeResult {
    const compute = this.#findEnabled(project, id);
    return this.#begin(project, this.#pending(compute, 'active'), [{ kind: 'start' }], true);
  }

  async #findStartable(project: ProjectState, id: string): Promise<StoredCompute> {
    this.find(project, id);
    requirePostgres(await this.#deps.engine);
    return this.#findEnabled(project, id);
  }

  #findEnabled(project: ProjectState, id: string): StoredCompute {
    const compute = this.#findFree(project, id);
    if (compute.record.disabled)
      throw conflict(`Compute ${id} is disabled. Enable it first (disabled: false).`);
    return compute;
  }

  /** Does nothing if the compute is idle. */
  suspend(project: ProjectState, id: string): ComputeResult {
    const compute = this.#findFree(project, id);
    if (compute.record.current_state === 'idle') return { endpoint: compute.record, operations: [] };
    return this.#begin(project, this.#pending(compute, 'idle'), [{ kind: 'suspend' }]);
  }

  /** @throws {HttpError} 423 while an operation runs on the compute */
  #findFree(project: ProjectState, id: string): StoredCompute {
    const compute = this.find(project, id);
    this.#deps.operations.requireFree(id);
    return compute;
  }

  #pending(compute: StoredCompute, pending: 'active' | 'idle'): StoredCompute {
    return { ...compute, record: withState(compute.record, { pending }, this.#deps.clock.now()) };
  }

  #begin(
    project: ProjectState,
    compute: StoredCompute,
    steps: readonly OperationStep[],
    startBeforeDurable = false,
  ): ComputeResult {
    const target = computeTarget(compute.record);
    const operations = this.#deps.operations.begin(
      project.record.id,
      steps.map((step) => ({ step, target })),
      [{ set: 'compute', value: compute }],
      startBeforeDurable,
    );
    return { endpoint: compute.record, operations };
  }
}

/** Section 3.2: the steps of an update and the state they lead to. If nothing changes for the engine, there are no steps. */
function stepsOfUpdate(
  compute: StoredCompute,
  next: ComputeRecord,
): { readonly steps: readonly OperationStep[]; readonly pending: 'active' | 'idle' } {
  const { record } = compute;
  if (isEqual(specOf(compute), specOf({ ...compute, record: next }))) return { steps: [], pending: 'idle' };
  const isActive = record.current_state === 'active';
  const apply: OperationStep = { kind: 'apply', before: record };
  const isMove = next.branch_id !== record.branch_id;
  if (isMove || (next.disabled && isActive)) return { steps: [apply, { kind: 'suspend' }], pending: 'idle' };
  return { steps: [apply], pending: isActive ? 'active' : 'idle' };
}

/** Returns a new compute whose creation is pending. */
export function prepareCompute(
  account: AccountState,
  project: ProjectRecord,
  creation: ComputeCreation,
  allocation: Allocation,
  now: number,
): StoredCompute {
  const id = generateId('ep-', (taken) => account.compute(taken) !== undefined);
  const compute = newCompute(id, project, creation, allocation, now);
  const pending = compute.record.disabled ? 'idle' : 'active';
  return { ...compute, record: withState(compute.record, { pending }, now) };
}

/**
 * Opens the addresses of computes whose branch is being created, so that clients that connect at once wait for it. A
 * failure is reported by the operation that starts the compute.
 */
export async function openAddresses(
  engine: ComputeEngine,
  computes: readonly StoredCompute[],
): Promise<void> {
  await Promise.allSettled(computes.map((compute) => engine.attach(specOf(compute))));
}

/** More than there are ports. */
const ADDRESS_ATTEMPTS = 32_000;

/**
 * Returns an address that no compute of the account has, whether it is active or not.
 * @param taken ports of computes that are created together with this one; the new ones are added
 */
export async function allocate(
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
