/** The calls that change computes (section 4.3): check the rules, record the change, start the operations. */
import { POSTGRES_MISSING } from '../../api/errors.ts';
import type { ComputePatch, ComputeCreation } from '../../api/records/requests.ts';
import { isEqual } from '../../base/equal.ts';
import type { Plan } from '../../api/records/sizes.ts';
import type { ServiceClock } from '../core/clock.ts';
import {
  EngineError,
  type ComputeAddress,
  type ComputeEngine,
  type PooledSessions,
} from '../core/computeEngine.ts';
import {
  applyChange,
  newCompute,
  requireEnabled,
  requireNoPrimary,
  requireProvisioner,
  requireRegion,
  requireValidSize,
  sizeOfNew,
  specOf,
  withDefaults,
  withState,
} from './computeRecord.ts';
import { findBranch } from './branches/branchRecord.ts';
import { changeRecord } from './usage.ts';
import { generateId } from './generateId.ts';
import { computeTarget } from './operationRecord.ts';
import type { Operations } from './operations.ts';
import { HttpError, notFound, unprocessable } from '../core/errors.ts';
import type { AccountState, ProjectState, Store } from '../state/store.ts';
import type {
  ComputeRecord,
  OperationRecord,
  OperationStep,
  ProjectRecord,
  StoredCompute,
} from '../state/storedRecords.ts';

export interface ComputesOptions {
  readonly store: Store;
  readonly engine: Promise<ComputeEngine>;
  readonly operations: Operations;
  readonly clock: ServiceClock;
  readonly plan: Plan;
}

/** What each of these calls returns. */
export interface ComputeResult {
  readonly endpoint: ComputeRecord;
  readonly operations: readonly OperationRecord[];
}

/** What the engine decides about a new compute. */
export interface Allocation {
  readonly address: ComputeAddress;
  readonly pooledSessions: PooledSessions;
}

export class Computes {
  readonly #options: ComputesOptions;

  constructor(options: ComputesOptions) {
    this.#options = options;
  }

  /** @throws {HttpError} 404 */
  find(project: ProjectState, id: string): StoredCompute {
    const compute = project.computes.get(id);
    if (compute === undefined) throw notFound(`compute in project ${project.record.id} with the id`, id);
    return compute;
  }

  async create(project: ProjectState, creation: ComputeCreation): Promise<ComputeResult> {
    this.#requireCreatable(project, creation);
    const engine = await this.#options.engine;
    if (creation.disabled !== true) requirePostgres(engine);
    const allocation = await this.allocate();
    // Another call may have taken the branch in the meantime.
    this.#requireCreatable(project, creation);
    const compute = this.prepare(project.record, creation, allocation);
    return this.#begin(project, compute, [{ kind: compute.record.disabled ? 'attach' : 'start' }]);
  }

  /** Returns a compute that is to be created. */
  prepare(project: ProjectRecord, creation: ComputeCreation, allocation: Allocation): StoredCompute {
    const { store, clock } = this.#options;
    const now = clock.now();
    const id = generateId('ep-', (taken) => store.account.hadCompute(taken));
    const compute = newCompute({
      id,
      project,
      creation: withDefaults(creation, project),
      ...allocation,
      now,
    });
    const pending = compute.record.disabled ? 'idle' : 'active';
    return { ...compute, record: withState(compute.record, { pending }, now) };
  }

  /** @param previous the allocations of computes that are created together with this one */
  async allocate(previous: readonly Allocation[] = []): Promise<Allocation> {
    const engine = await this.#options.engine;
    const taken = previous.map(({ address }) => address);
    const address = await freeAddress(engine, this.#options.store.account, taken);
    return { address, pooledSessions: engine.pooledSessions };
  }

  /**
   * Opens the addresses of computes whose branch is being created, so that clients that connect at once wait for it. A
   * failure is reported by the operation that starts the compute.
   */
  async open(project: ProjectRecord, computes: readonly StoredCompute[]): Promise<void> {
    const engine = await this.#options.engine;
    const opened = computes.map(({ record, address }) => engine.attach(specOf(record, address, project)));
    await Promise.allSettled(opened);
  }

  #requireCreatable(project: ProjectState, creation: ComputeCreation): void {
    findBranch(project, creation.branch_id);
    this.#options.operations.requireFree(creation.branch_id);
    this.requireValid(project.record, creation);
    if (creation.type === 'read_write') requireNoPrimary(project, creation.branch_id);
  }

  /** Checks what does not depend on the branch. */
  requireValid(project: ProjectRecord, creation: ComputeCreation): void {
    requireRegion(project, creation.region_id);
    requireProvisioner(project, creation.provisioner);
    requireValidSize(sizeOfNew(withDefaults(creation, project)), this.#options.plan);
  }

  async update(project: ProjectState, id: string, patch: ComputePatch): Promise<ComputeResult> {
    const engine = patch.settings === undefined ? undefined : await this.#options.engine;
    const compute = this.#findFree(project, id);
    const now = this.#options.clock.now();
    const next = applyChange(compute, patch, now);
    this.#requireChangeable(project, compute.record, next, patch);
    // Postgres itself checks them.
    if (engine !== undefined && !isEqual(next.settings, compute.record.settings)) requirePostgres(engine);
    const { steps, pending } = stepsOfChange(compute, next, project);
    if (steps.length > 0) {
      return this.#begin(project, { ...compute, record: withState(next, { pending }, now) }, steps);
    }
    this.#options.store.commit({ set: 'compute', value: { ...compute, record: next } });
    return { endpoint: next, operations: [] };
  }

  #requireChangeable(
    project: ProjectState,
    before: ComputeRecord,
    next: ComputeRecord,
    patch: ComputePatch,
  ): void {
    requireProvisioner(project.record, patch.provisioner);
    findBranch(project, next.branch_id);
    if (next.branch_id !== before.branch_id) this.#options.operations.requireFree(next.branch_id);
    if (patch.autoscaling_limit_min_cu !== undefined || patch.autoscaling_limit_max_cu !== undefined) {
      const { autoscaling_limit_min_cu: min, autoscaling_limit_max_cu: max } = next;
      requireValidSize({ min, max }, this.#options.plan);
    }
    if (next.type === 'read_write' && next.branch_id !== before.branch_id) {
      requireNoPrimary(project, next.branch_id, before.id);
    }
  }

  /** Returns undefined if the compute was already deleted. */
  delete(project: ProjectState, id: string): ComputeResult | undefined {
    if (project.deletedComputes.has(id)) return undefined;
    const compute = this.#findFree(project, id);
    const now = this.#options.clock.now();
    const { type, branch_id } = compute.record;
    if (project.branches.get(branch_id)?.protected === true)
      throw unprocessable(
        `Compute ${id} is on the protected branch ${branch_id}. Remove the protection first.`,
      );
    const record = withState(compute.record, { pending: 'idle' }, now);
    const removal = { removed: 'compute', projectId: project.record.id, id } as const;
    const used = changeRecord(compute, project, record, now).filter(
      (change) => !('removed' in change) && change.set !== 'compute',
    );
    const task = { step: { kind: 'remove', type }, target: computeTarget(record) } as const;
    const operations = this.#options.operations.begin(project.record.id, [task], [...used, removal]);
    return { endpoint: record, operations };
  }

  async restart(project: ProjectState, id: string): Promise<ComputeResult> {
    await this.#requireStartable(project, id);
    const compute = this.#findFree(project, id);
    requireEnabled(compute.record);
    const steps: OperationStep[] = [{ kind: 'start' }];
    if (compute.record.current_state === 'active') steps.unshift({ kind: 'suspend' });
    return this.#begin(project, this.#pending(compute, 'active'), steps);
  }

  /** Does nothing if the compute is active. */
  async start(project: ProjectState, id: string): Promise<ComputeResult> {
    await this.#requireStartable(project, id);
    const compute = this.#findFree(project, id);
    requireEnabled(compute.record);
    if (compute.record.current_state === 'active') return { endpoint: compute.record, operations: [] };
    return this.#begin(project, this.#pending(compute, 'active'), [{ kind: 'start' }]);
  }

  /** For a client that waits at the compute's address, even if the record says that the compute is active. */
  startForClient(project: ProjectState, id: string): ComputeResult {
    const compute = this.#findFree(project, id);
    requireEnabled(compute.record);
    return this.#begin(project, this.#pending(compute, 'active'), [{ kind: 'start' }], true);
  }

  async #requireStartable(project: ProjectState, id: string): Promise<void> {
    this.find(project, id);
    requirePostgres(await this.#options.engine);
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
    this.#options.operations.requireFree(id);
    return compute;
  }

  #pending(compute: StoredCompute, pending: 'active' | 'idle'): StoredCompute {
    return { ...compute, record: withState(compute.record, { pending }, this.#options.clock.now()) };
  }

  #begin(
    project: ProjectState,
    compute: StoredCompute,
    steps: readonly OperationStep[],
    startBeforeDurable = false,
  ): ComputeResult {
    const change = { set: 'compute', value: compute } as const;
    const target = computeTarget(compute.record);
    const tasks = steps.map((step) => ({ step, target }));
    const operations = this.#options.operations.begin(project.record.id, tasks, [change], startBeforeDurable);
    return { endpoint: compute.record, operations };
  }
}

/** @throws {HttpError} where no compute can start */
export function requirePostgres({ postgresProblem }: ComputeEngine): void {
  if (postgresProblem !== undefined) throw new HttpError(409, POSTGRES_MISSING, postgresProblem);
}

/** Section 3.2: the steps of the change and the state they lead to. Changes that the engine need not know have no steps. */
function stepsOfChange(
  compute: StoredCompute,
  next: ComputeRecord,
  project: ProjectState,
): { readonly steps: readonly OperationStep[]; readonly pending: 'active' | 'idle' } {
  const { record, address } = compute;
  const isActive = record.current_state === 'active';
  const specs = [record, next].map((each) => JSON.stringify(specOf(each, address, project.record)));
  if (specs[0] === specs[1]) return { steps: [], pending: 'idle' };
  const apply: OperationStep = { kind: 'apply', before: record };
  const isMove = next.branch_id !== record.branch_id;
  if (isMove || (next.disabled && isActive)) return { steps: [apply, { kind: 'suspend' }], pending: 'idle' };
  return { steps: [apply], pending: isActive ? 'active' : 'idle' };
}

/** More than there are ports. */
const ADDRESS_ATTEMPTS = 32_000;

/** Returns an address that no compute of the account has, whether it is active or not. */
export async function freeAddress(
  engine: ComputeEngine,
  account: AccountState,
  alsoTaken: readonly ComputeAddress[] = [],
): Promise<ComputeAddress> {
  const takenPorts = new Set(alsoTaken.flatMap(({ port, poolerPort }) => [port, poolerPort]));
  const isTaken = (port: number) => account.ports.has(port) || takenPorts.has(port);
  for (let attempt = 0; attempt < ADDRESS_ATTEMPTS; attempt += 1) {
    const address = await engine.allocateAddress();
    if (!isTaken(address.port) && !isTaken(address.poolerPort)) return address;
  }
  throw new EngineError('All ports of 127.0.0.1 belong to computes.');
}
