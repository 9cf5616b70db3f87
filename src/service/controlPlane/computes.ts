/** The calls that change computes (section 4.3): check the rules, record the change, start the operations. */
import type { ComputeChange, ComputeCreation } from '../../api/records/requests.ts';
import type { Plan } from '../../api/records/sizes.ts';
import type { Clock } from '../core/clock.ts';
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
  requireSize,
  sizeOfNew,
  specOf,
  withState,
} from './computeRecord.ts';
import { changeRecord } from './usage.ts';
import { generateId } from './generateId.ts';
import type { Operations } from './operations.ts';
import { notFound, unprocessable } from '../core/httpError.ts';
import type { Account, ProjectState, Store } from '../state/store.ts';
import type { ComputeRecord, OperationRecord, Step, StoredCompute } from '../state/storedRecords.ts';

export interface ComputesOptions {
  readonly store: Store;
  readonly engine: Promise<ComputeEngine>;
  readonly operations: Operations;
  readonly clock: Clock;
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
    // Another call may have taken the branch during the waiting.
    this.#requireCreatable(project, wanted);
    const now = this.#options.clock.now();
    const { account } = this.#options.store;
    const isTaken = (id: string) => account.compute(id) !== undefined || project.deletedComputes.has(id);
    const compute = newCompute({
      id: generateId('ep-', isTaken),
      project: project.record,
      wanted,
      address,
      now,
    });
    const isStarted = !compute.record.disabled;
    const pending = isStarted ? 'active' : 'idle';
    const record = withState(compute.record, { pending }, now);
    return this.#begin(project, { ...compute, record }, [{ kind: isStarted ? 'start' : 'attach' }]);
  }

  #requireCreatable(project: ProjectState, wanted: ComputeCreation): void {
    requireBranch(project, wanted.branch_id);
    requireRegion(project, wanted.region_id);
    requireProvisioner(project, wanted.provisioner);
    requireSize(sizeOfNew(wanted), this.#options.plan);
    if (wanted.type === 'read_write') requireNoPrimary(project, wanted.branch_id);
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
    requireProvisioner(project, wanted.provisioner);
    requireBranch(project, next.branch_id);
    if (wanted.autoscaling_limit_min_cu !== undefined || wanted.autoscaling_limit_max_cu !== undefined) {
      const { autoscaling_limit_min_cu: min, autoscaling_limit_max_cu: max } = next;
      requireSize({ min, max }, this.#options.plan);
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
    const { type } = compute.record;
    const record = withState(compute.record, { pending: 'idle' }, now);
    const removal = { removed: 'compute', projectId: project.record.id, id } as const;
    const used = changeRecord(compute, project, record, now).filter(
      (change) => !('removed' in change) && change.set === 'project',
    );
    const operations = this.#options.operations.begin(
      project,
      compute,
      [{ kind: 'remove', type }],
      [...used, removal],
    );
    return { endpoint: record, operations };
  }

  restart(project: ProjectState, id: string): ComputeResult {
    const compute = this.#findFree(project, id);
    requireEnabled(compute.record);
    const steps: Step[] = [{ kind: 'start' }];
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

  #pending(compute: StoredCompute, pending: 'active' | 'idle'): StoredCompute {
    return { ...compute, record: withState(compute.record, { pending }, this.#options.clock.now()) };
  }

  #begin(
    project: ProjectState,
    compute: StoredCompute,
    steps: readonly Step[],
    urgent = false,
  ): ComputeResult {
    const change = { set: 'compute', value: compute } as const;
    const operations = this.#options.operations.begin(project, compute, steps, [change], urgent);
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
): { readonly steps: readonly Step[]; readonly pending: 'active' | 'idle' } {
  const { record, address } = compute;
  const isActive = record.current_state === 'active';
  const specs = [record, next].map((each) => JSON.stringify(specOf(each, address, project.record)));
  if (specs[0] === specs[1]) return { steps: [], pending: 'idle' };
  const apply: Step = { kind: 'apply', before: record };
  const isMove = next.branch_id !== record.branch_id;
  if (isMove || (next.disabled && isActive)) return { steps: [apply, { kind: 'suspend' }], pending: 'idle' };
  return { steps: [apply], pending: isActive ? 'active' : 'idle' };
}

/** More than there are ports. */
const ADDRESS_ATTEMPTS = 32_000;

/** Returns an address that no compute of the account has, whether it is active or not. */
export async function freeAddress(engine: ComputeEngine, account: Account): Promise<ComputeAddress> {
  for (let attempt = 0; attempt < ADDRESS_ATTEMPTS; attempt += 1) {
    const address = await engine.allocateAddress();
    if (!account.ports.has(address.port) && !account.ports.has(address.poolerPort)) return address;
  }
  throw new EngineError('All ports of 127.0.0.1 belong to computes.');
}
