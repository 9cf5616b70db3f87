/** The calls that change computes (section 4.3): checks the rules, records the change, begins the operations. */
import { changeEffect } from '../../api/records/effects.ts';
import type { ComputeChange, ComputeCreation } from '../../api/records/requests.ts';
import type { Plan } from '../../api/records/sizes.ts';
import type { ProjectState } from '../state/account.ts';
import { freeAddress } from './addresses.ts';
import type { Clock } from '../core/clock.ts';
import type { ComputeEngine } from '../core/computeEngine.ts';
import { applyChange, withState, newCompute, sizeOfNew, specOf } from './computeRecord.ts';
import * as rules from './computeRules.ts';
import { changeRecord } from './usage.ts';
import { generateId } from './generateId.ts';
import type { Operations } from './operations.ts';
import { notFound, unprocessable } from '../core/httpError.ts';
import type { Store } from '../state/store.ts';
import type { ComputeRecord, OperationRecord, Step, StoredCompute } from '../state/storedRecords.ts';

export interface ComputesOptions {
  readonly store: Store;
  readonly engine: Promise<ComputeEngine>;
  readonly operations: Operations;
  readonly clock: Clock;
  readonly plan: Plan;
}

/** What every changing call answers. */
export interface Outcome {
  readonly endpoint: ComputeRecord;
  readonly operations: readonly OperationRecord[];
}

export class Computes {
  readonly #options: ComputesOptions;

  constructor(options: ComputesOptions) {
    this.#options = options;
  }

  /** @throws {Refusal} when there is no such compute (any more) */
  find(project: ProjectState, id: string): StoredCompute {
    const compute = project.computes.get(id);
    if (compute === undefined) throw notFound(`compute in project ${project.record.id} with the id`, id);
    return compute;
  }

  async create(project: ProjectState, wanted: ComputeCreation): Promise<Outcome> {
    this.#requireCreatable(project, wanted);
    const engine = await this.#options.engine;
    requirePooler(engine, wanted.pooler_enabled);
    const address = await freeAddress(engine, this.#options.store.account);
    // Others went on meanwhile: what was allowed before may be taken now.
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
    rules.requireBranch(project, wanted.branch_id);
    rules.requireRegion(project, wanted.region_id);
    rules.requireProvisioner(project, wanted.provisioner);
    rules.requireSize(sizeOfNew(wanted), this.#options.plan);
    if (wanted.type === 'read_write') rules.requireNoPrimary(project, wanted.branch_id);
  }

  async update(project: ProjectState, id: string, wanted: ComputeChange): Promise<Outcome> {
    const engine = wanted.pooler_enabled === true ? await this.#options.engine : undefined;
    const compute = this.#findFree(project, id);
    const now = this.#options.clock.now();
    const next = applyChange(compute, wanted, now);
    this.#requireChangeable(project, compute.record, next, wanted);
    if (engine !== undefined && !compute.record.pooler_enabled) requirePooler(engine, true);
    const { steps, pending } = stepsOfChange(compute, next, wanted, project);
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
    rules.requireProvisioner(project, wanted.provisioner);
    rules.requireBranch(project, next.branch_id);
    if (wanted.autoscaling_limit_min_cu !== undefined || wanted.autoscaling_limit_max_cu !== undefined) {
      const { autoscaling_limit_min_cu: min, autoscaling_limit_max_cu: max } = next;
      rules.requireSize({ min, max }, this.#options.plan);
    }
    if (next.type === 'read_write' && next.branch_id !== now.branch_id) {
      rules.requireNoPrimary(project, next.branch_id, now.id);
    }
  }

  /** @returns undefined when it was deleted before */
  delete(project: ProjectState, id: string): Outcome | undefined {
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

  restart(project: ProjectState, id: string): Outcome {
    const compute = this.#findFree(project, id);
    rules.requireEnabled(compute.record);
    const steps: Step[] = [{ kind: 'start' }];
    if (compute.record.current_state === 'active') steps.unshift({ kind: 'suspend' });
    return this.#begin(project, this.#pending(compute, 'active'), steps);
  }

  /** Does nothing to a compute that runs. */
  start(project: ProjectState, id: string, urgent = false): Outcome {
    const compute = this.#findFree(project, id);
    rules.requireEnabled(compute.record);
    if (compute.record.current_state === 'active' && !urgent)
      return { endpoint: compute.record, operations: [] };
    return this.#begin(project, this.#pending(compute, 'active'), [{ kind: 'start' }], urgent);
  }

  /** Does nothing to a compute that sleeps. */
  suspend(project: ProjectState, id: string): Outcome {
    const compute = this.#findFree(project, id);
    if (compute.record.current_state === 'idle') return { endpoint: compute.record, operations: [] };
    return this.#begin(project, this.#pending(compute, 'idle'), [{ kind: 'suspend' }]);
  }

  /** @throws {Refusal} 423 while an operation runs on it */
  #findFree(project: ProjectState, id: string): StoredCompute {
    const compute = this.find(project, id);
    const operation = this.#options.operations.on(id);
    if (operation !== undefined) throw rules.locked(operation);
    return compute;
  }

  #pending(compute: StoredCompute, pending: 'active' | 'idle'): StoredCompute {
    return { ...compute, record: withState(compute.record, { pending }, this.#options.clock.now()) };
  }

  #begin(project: ProjectState, compute: StoredCompute, steps: readonly Step[], urgent = false): Outcome {
    const change = { set: 'compute', value: compute } as const;
    const operations = this.#options.operations.begin(project, compute, steps, [change], urgent);
    return { endpoint: compute.record, operations };
  }
}

function requirePooler({ pooler }: ComputeEngine, wanted: boolean | undefined): void {
  if (wanted === true && !pooler.available) throw unprocessable(`pooler_enabled: ${pooler.reason}`);
}

/** Section 3.2: what the change needs done, and the state it leads to. Nothing for what the engine need not know. */
function stepsOfChange(
  compute: StoredCompute,
  next: ComputeRecord,
  wanted: ComputeChange,
  project: ProjectState,
): { readonly steps: readonly Step[]; readonly pending: 'active' | 'idle' } {
  const { record, address } = compute;
  const isActive = record.current_state === 'active';
  const specs = [record, next].map((each) => JSON.stringify(specOf(each, address, project.record)));
  if (specs[0] === specs[1]) return { steps: [], pending: 'idle' };
  const apply: Step = { kind: 'apply', before: record };
  const isMove = next.branch_id !== record.branch_id;
  const effect = changeEffect(record, wanted);
  if (isMove || (effect === 'disable' && isActive))
    return { steps: [apply, { kind: 'suspend' }], pending: 'idle' };
  return { steps: [apply], pending: isActive ? 'active' : 'idle' };
}
