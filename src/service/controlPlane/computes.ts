/** The calls that change computes (section 4.3): check the rules, record the change, start the operations. */
import type { ComputeChange, ComputeCreation } from '../../api/records/requests.ts';
import type { Plan } from '../../api/records/sizes.ts';
import type { ServiceClock } from '../core/clock.ts';
import { EngineError, type ComputeAddress, type ComputeEngine } from '../core/computeEngine.ts';
import {
  applyChange,
  locked,
  newCompute,
  requireBranch,
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
import { changeRecord } from './usage.ts';
import { generateId } from './generateId.ts';
import { computeTarget } from './operationRecord.ts';
import type { Operations } from './operations.ts';
import { notFound, unprocessable } from '../core/httpError.ts';
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

  async create(project: ProjectState, wanted: ComputeCreation): Promise<ComputeResult> {
    this.#requireCreatable(project, wanted);
    const engine = await this.#options.engine;
    requirePooler(engine, wanted.pooler_enabled);
    const address = await freeAddress(engine, this.#options.store.account);
    // Another call may have taken the branch in the meantime.
    this.#requireCreatable(project, wanted);
    const compute = this.prepare(project.record, wanted, address);
    return this.#begin(project, compute, [{ kind: compute.record.disabled ? 'attach' : 'start' }]);
  }

  /** Returns a compute that is to be created. */
  prepare(project: ProjectRecord, wanted: ComputeCreation, address: ComputeAddress): StoredCompute {
    const { store, clock } = this.#options;
    const now = clock.now();
    const id = generateId('ep-', (taken) => store.account.hadCompute(taken));
    const compute = newCompute({ id, project, wanted: withDefaults(wanted, project), address, now });
    const pending = compute.record.disabled ? 'idle' : 'active';
    return { ...compute, record: withState(compute.record, { pending }, now) };
  }

  /** Returns addresses for new computes. */
  async addresses(count: number): Promise<readonly ComputeAddress[]> {
    const engine = await this.#options.engine;
    const found: ComputeAddress[] = [];
    while (found.length < count) {
      const address = await freeAddress(engine, this.#options.store.account);
      if (!found.some(({ port }) => port === address.port)) found.push(address);
    }
    return found;
  }

  #requireCreatable(project: ProjectState, wanted: ComputeCreation): void {
    requireBranch(project, wanted.branch_id);
    this.#requireFreeBranch(wanted.branch_id);
    this.requireValid(project.record, wanted);
    if (wanted.type === 'read_write') requireNoPrimary(project, wanted.branch_id);
  }

  /** Checks what does not depend on the branch. */
  requireValid(project: ProjectRecord, wanted: ComputeCreation): void {
    requireRegion(project, wanted.region_id);
    requireProvisioner(project, wanted.provisioner);
    requireValidSize(sizeOfNew(withDefaults(wanted, project)), this.#options.plan);
  }

  async update(project: ProjectState, id: string, wanted: ComputeChange): Promise<ComputeResult> {
    const engine = wanted.pooler_enabled === true ? await this.#options.engine : undefined;
    const compute = this.#findFree(project, id);
    const now = this.#options.clock.now();
    const next = applyChange(compute, wanted, now);
    this.#requireChangeable(project, compute.record, next, wanted);
    if (engine !== undefined && !compute.record.pooler_enabled) requirePooler(engine, true);
    const { steps, pending } = stepsOfChange(compute, next, project);
    if (steps.length > 0) {
      return this.#begin(project, { ...compute, record: withState(next, { pending }, now) }, steps);
    }
    this.#options.store.commit({ set: 'compute', value: { ...compute, record: next } });
    return { endpoint: next, operations: [] };
  }

  #requireChangeable(
    project: ProjectState,
    now: ComputeRecord,
    next: ComputeRecord,
    wanted: ComputeChange,
  ): void {
    requireProvisioner(project.record, wanted.provisioner);
    requireBranch(project, next.branch_id);
    if (next.branch_id !== now.branch_id) this.#requireFreeBranch(next.branch_id);
    if (wanted.autoscaling_limit_min_cu !== undefined || wanted.autoscaling_limit_max_cu !== undefined) {
      const { autoscaling_limit_min_cu: min, autoscaling_limit_max_cu: max } = next;
      requireValidSize({ min, max }, this.#options.plan);
    }
    if (next.type === 'read_write' && next.branch_id !== now.branch_id) {
      requireNoPrimary(project, next.branch_id, now.id);
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

  restart(project: ProjectState, id: string): ComputeResult {
    const compute = this.#findFree(project, id);
    requireEnabled(compute.record);
    const steps: OperationStep[] = [{ kind: 'start' }];
    if (compute.record.current_state === 'active') steps.unshift({ kind: 'suspend' });
    return this.#begin(project, this.#pending(compute, 'active'), steps);
  }

  /** Does nothing if the compute is active. */
  start(project: ProjectState, id: string, urgent = false): ComputeResult {
    const compute = this.#findFree(project, id);
    requireEnabled(compute.record);
    if (compute.record.current_state === 'active' && !urgent)
      return { endpoint: compute.record, operations: [] };
    return this.#begin(project, this.#pending(compute, 'active'), [{ kind: 'start' }], urgent);
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
    const operation = this.#options.operations.on(id);
    if (operation !== undefined) throw locked(operation);
    return compute;
  }

  /** @throws {HttpError} 423 while the branch is being created or restored */
  #requireFreeBranch(branchId: string): void {
    const operation = this.#options.operations.on(branchId);
    if (operation !== undefined) throw locked(operation);
  }

  #pending(compute: StoredCompute, pending: 'active' | 'idle'): StoredCompute {
    return { ...compute, record: withState(compute.record, { pending }, this.#options.clock.now()) };
  }

  #begin(
    project: ProjectState,
    compute: StoredCompute,
    steps: readonly OperationStep[],
    urgent = false,
  ): ComputeResult {
    const change = { set: 'compute', value: compute } as const;
    const target = computeTarget(compute.record);
    const tasks = steps.map((step) => ({ step, target }));
    const operations = this.#options.operations.begin(project.record.id, tasks, [change], urgent);
    return { endpoint: compute.record, operations };
  }
}

function requirePooler({ pooler }: ComputeEngine, wanted: boolean | undefined): void {
  if (wanted === true && !pooler.available) throw unprocessable(`pooler_enabled: ${pooler.reason}`);
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
export async function freeAddress(engine: ComputeEngine, account: AccountState): Promise<ComputeAddress> {
  for (let attempt = 0; attempt < ADDRESS_ATTEMPTS; attempt += 1) {
    const address = await engine.allocateAddress();
    if (!account.ports.has(address.port) && !account.ports.has(address.poolerPort)) return address;
  }
  throw new EngineError('All ports of 127.0.0.1 belong to computes.');
}
