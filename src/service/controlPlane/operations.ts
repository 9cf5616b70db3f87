/**
 * Runs operations (section 2.6). Each step of a call is an operation: `scheduling`, then `running`, then `finished` or
 * `failed`. The operations of a compute run one after the other. The next start resumes what was unfinished.
 */
import { randomUUID } from 'node:crypto';
import { toTimestamp, type ServiceClock } from '../core/clock.ts';
import { EngineError, type ComputeEngine } from '../core/computeEngine.ts';
import { changeRecord } from './usage.ts';
import { afterFailure, afterStep, perform } from './operationSteps.ts';
import type { ProjectState, Store } from '../state/store.ts';
import {
  durationOf,
  isUnfinished,
  type ComputeRecord,
  type Change,
  type OperationRecord,
  type OperationStep,
  type StoredCompute,
  type StoredOperation,
} from '../state/storedRecords.ts';

export interface OperationsOptions {
  readonly store: Store;
  /** Rejects with a message for people if there is no engine. */
  readonly engine: Promise<ComputeEngine>;
  readonly clock: ServiceClock;
  /** Milliseconds. */
  readonly minimumDuration: number;
  /** Called for failures that the request did not cause. */
  readonly onUnexpected: (what: string, error: unknown) => void;
}

interface Work {
  readonly project: ProjectState;
  readonly computeId: string;
  readonly operationIds: readonly string[];
}

export class Operations {
  readonly #options: OperationsOptions;
  readonly #running = new Map<string, { readonly work: Work; readonly ended: Promise<void> }>();
  readonly #stop = new AbortController();

  constructor(options: OperationsOptions) {
    this.#options = options;
  }

  /** Returns the unfinished operation of a compute. */
  on(computeId: string): StoredOperation | undefined {
    const work = this.#running.get(computeId)?.work;
    const unfinished = work?.operationIds.map((id) => work.project.operations.get(id));
    return unfinished?.find((operation) => operation !== undefined && isUnfinished(operation));
  }

  /** Resolves when no operation runs on the compute any more; undefined if none runs now. */
  whenEnded(computeId: string): Promise<void> | undefined {
    return this.#running.get(computeId)?.ended;
  }

  /**
   * Records the steps together with other changes, and starts the first one.
   * @param urgent starts before the record is on disk, because a client is waiting at the compute's address
   */
  begin(
    project: ProjectState,
    compute: StoredCompute,
    steps: readonly OperationStep[],
    changes: readonly Change[],
    urgent = false,
  ): readonly OperationRecord[] {
    const { clock, store } = this.#options;
    const sequence = store.account.nextSequence();
    const operations = steps.map((step, index) =>
      newOperation({
        compute: compute.record,
        step,
        status: index === 0 ? 'running' : 'scheduling',
        sequence: sequence + index,
        now: clock.now(),
      }),
    );
    const additions = operations.map((value): Change => ({ set: 'operation', value }));
    store.commit(...changes, ...additions, ...removeOldOperations(project));
    this.#run(
      { project, computeId: compute.record.id, operationIds: operations.map(({ record }) => record.id) },
      urgent,
    );
    return operations.map(({ record }) => record);
  }

  /** Continues what an earlier run of the service left unfinished. */
  resume(): void {
    for (const project of this.#options.store.account.projects.values()) {
      const left = new Map<string, string[]>();
      for (const { record } of [...project.operations.values()].filter(isUnfinished)) {
        left.set(record.endpoint_id, [...(left.get(record.endpoint_id) ?? []), record.id]);
      }
      for (const [computeId, operationIds] of left) this.#run({ project, computeId, operationIds }, false);
    }
  }

  /** Nothing is started or recorded after this. */
  stop(): void {
    this.#stop.abort();
  }

  #run(work: Work, urgent: boolean): void {
    if (this.#stop.signal.aborted) return;
    const ended = this.#runSteps(work, urgent)
      .catch((error: unknown) => this.#options.onUnexpected(`operations on ${work.computeId}`, error))
      .finally(() => {
        // The next work may have started since the last change.
        if (this.#running.get(work.computeId)?.work === work) this.#running.delete(work.computeId);
      });
    this.#running.set(work.computeId, { work, ended });
  }

  async #runSteps(work: Work, urgent: boolean): Promise<void> {
    const { store, clock, minimumDuration } = this.#options;
    if (!urgent) await store.whenDurable();
    for (const [index, id] of work.operationIds.entries()) {
      const operation = work.project.operations.get(id);
      if (operation === undefined || this.#stop.signal.aborted) return;
      if (operation.record.status === 'scheduling') {
        store.commit(this.#withStatus(operation, 'running'));
      }
      const [error] = await Promise.all([
        this.#perform(work, operation.step),
        clock.delay(minimumDuration, this.#stop.signal),
      ]);
      if (this.#stop.signal.aborted) return;
      const rest = work.operationIds.slice(index + 1);
      if (error === undefined) store.commit(...this.#finish(work, operation, rest.length === 0));
      else return store.commit(...this.#fail(work, operation, error, rest));
    }
  }

  async #perform({ project, computeId }: Work, step: OperationStep): Promise<string | undefined> {
    try {
      const engine = await this.#options.engine;
      await perform(step, engine, project.record, computeId, project.computes.get(computeId));
      return undefined;
    } catch (error) {
      const isExpected = error instanceof EngineError;
      if (!isExpected) this.#options.onUnexpected(`${actionOf(step)} of ${computeId}`, error);
      return error instanceof Error ? error.message : String(error);
    }
  }

  #withStatus(
    { record, ...rest }: StoredOperation,
    status: OperationRecord['status'],
    error?: string,
  ): Change {
    const value = { ...rest, record: withStatus(record, status, this.#options.clock.now(), error) };
    return { set: 'operation', value };
  }

  #finish({ project, computeId }: Work, operation: StoredOperation, isLast: boolean): Change[] {
    const finished = this.#withStatus(operation, 'finished');
    const compute = project.computes.get(computeId);
    if (compute === undefined) return [finished];
    const now = this.#options.clock.now();
    return [
      finished,
      ...changeRecord(compute, project, afterStep(operation.step, compute.record, isLast, now), now),
    ];
  }

  #fail(
    { project, computeId }: Work,
    operation: StoredOperation,
    error: string,
    rest: readonly string[],
  ): Change[] {
    const skipped = rest.flatMap((id) => {
      const other = project.operations.get(id);
      return other === undefined ? [] : [this.#withStatus(other, 'skipped')];
    });
    const failed = [this.#withStatus(operation, 'failed', error), ...skipped];
    const compute = project.computes.get(computeId);
    if (compute === undefined) return failed;
    const now = this.#options.clock.now();
    return [
      ...failed,
      ...changeRecord(compute, project, afterFailure(operation.step, compute.record, now), now),
    ];
  }
}

const actionOf = (step: OperationStep): OperationRecord['action'] => {
  switch (step.kind) {
    case 'start':
      return 'start_compute';
    case 'apply':
    case 'attach':
    case 'sql':
      return 'apply_config';
    case 'suspend':
    case 'remove':
      return 'suspend_compute';
    case 'check':
      return 'check_availability';
  }
};

export interface NewOperation {
  readonly compute: ComputeRecord;
  readonly step: OperationStep;
  readonly status: OperationRecord['status'];
  readonly sequence: number;
  readonly now: number;
}

export function newOperation({ compute, step, status, sequence, now }: NewOperation): StoredOperation {
  const record: OperationRecord = {
    id: randomUUID(),
    project_id: compute.project_id,
    branch_id: compute.branch_id,
    endpoint_id: compute.id,
    action: actionOf(step),
    status,
    failures_count: 0,
    created_at: toTimestamp(now),
    updated_at: toTimestamp(now),
    total_duration_ms: 0,
  };
  return { record, step, sequence };
}

/** @param error why the operation failed, for people */
export const withStatus = (
  record: OperationRecord,
  status: OperationRecord['status'],
  now: number,
  error?: string,
): OperationRecord => {
  const updated_at = toTimestamp(now);
  return {
    ...record,
    status,
    ...(error === undefined ? {} : { error, failures_count: record.failures_count + 1 }),
    updated_at,
    total_duration_ms: durationOf({ ...record, updated_at }),
  };
};

/** Finished operations that a project keeps. */
const KEPT_OPERATIONS = 500;

/** Returns the removals of the oldest finished operations above this number. */
function removeOldOperations(project: ProjectState): Change[] {
  let tooMany = project.operations.size - KEPT_OPERATIONS;
  const removals: Change[] = [];
  for (const operation of project.operations.values()) {
    if (tooMany <= 0) break;
    if (isUnfinished(operation)) continue;
    removals.push({ removed: 'operation', projectId: project.record.id, id: operation.record.id });
    tooMany -= 1;
  }
  return removals;
}
