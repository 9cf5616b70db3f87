/**
 * Runs operations: the steps of one call after one another on their compute, each `scheduling`, then `running`, then
 * `finished` or `failed`. What is unfinished when the service ends is taken up at its next start.
 */
import type { ProjectState } from '../state/account.ts';
import type { Clock } from '../core/clock.ts';
import type { ComputeEngine } from '../core/computeEngine.ts';
import { changeRecord } from './usage.ts';
import { removeOldOperations } from './operationHistory.ts';
import { actionOf, newOperation, withStatus } from './operationRecord.ts';
import { afterFailure, afterStep, perform } from './operationSteps.ts';
import type { Store } from '../state/store.ts';
import {
  isUnfinished,
  type Change,
  type OperationRecord,
  type Step,
  type StoredCompute,
} from '../state/storedRecords.ts';
import type { StoredOperation } from '../state/storedRecords.ts';

export interface OperationsOptions {
  readonly store: Store;
  /** Rejects with words when the engine cannot be had. */
  readonly engine: Promise<ComputeEngine>;
  readonly clock: Clock;
  /** Milliseconds every operation takes at least. */
  readonly leastDuration: number;
  /** Told of failures that are no fault of what was asked for. */
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

  /** The operation that runs on a compute now. */
  on(computeId: string): StoredOperation | undefined {
    const work = this.#running.get(computeId)?.work;
    const unfinished = work?.operationIds.map((id) => work.project.operations.get(id));
    return unfinished?.find((operation) => operation !== undefined && isUnfinished(operation));
  }

  /** Resolves when nothing runs on the compute any more; undefined when nothing does now. */
  whenEnded(computeId: string): Promise<void> | undefined {
    return this.#running.get(computeId)?.ended;
  }

  /**
   * Records the steps together with the changes that go with them, and starts the first.
   * @param urgent begin before the record is on disk: for those who wait at the compute's address
   */
  begin(
    project: ProjectState,
    compute: StoredCompute,
    steps: readonly Step[],
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

  /** Takes up what an earlier run of the service left unfinished. */
  resume(): void {
    for (const project of this.#options.store.account.projects.values()) {
      const left = new Map<string, string[]>();
      for (const { record } of [...project.operations.values()].filter(isUnfinished)) {
        left.set(record.endpoint_id, [...(left.get(record.endpoint_id) ?? []), record.id]);
      }
      for (const [computeId, operationIds] of left) this.#run({ project, computeId, operationIds }, false);
    }
  }

  /** From now on nothing is begun and nothing is recorded. */
  stop(): void {
    this.#stop.abort();
  }

  #run(work: Work, urgent: boolean): void {
    if (this.#stop.signal.aborted) return;
    const ended = this.#runSteps(work, urgent)
      .catch((error: unknown) => this.#options.onUnexpected(`operations on ${work.computeId}`, error))
      .finally(() => {
        // The next work may have begun in the moment between the last change and this.
        if (this.#running.get(work.computeId)?.work === work) this.#running.delete(work.computeId);
      });
    this.#running.set(work.computeId, { work, ended });
  }

  async #runSteps(work: Work, urgent: boolean): Promise<void> {
    const { store, clock, leastDuration } = this.#options;
    if (!urgent) await store.whenDurable();
    for (const [index, id] of work.operationIds.entries()) {
      const operation = work.project.operations.get(id);
      if (operation === undefined || this.#stop.signal.aborted) return;
      if (operation.record.status === 'scheduling') {
        store.commit(this.#as(operation, 'running'));
      }
      const [error] = await Promise.all([
        this.#attempt(work, operation.step),
        clock.delay(leastDuration, this.#stop.signal),
      ]);
      if (this.#stop.signal.aborted) return;
      const rest = work.operationIds.slice(index + 1);
      if (error === undefined) store.commit(...this.#finish(work, operation, rest.length === 0));
      else return store.commit(...this.#fail(work, operation, error, rest));
    }
  }

  async #attempt({ project, computeId }: Work, step: Step): Promise<string | undefined> {
    try {
      const engine = await this.#options.engine;
      await perform(step, engine, project.record, computeId, project.computes.get(computeId));
      return undefined;
    } catch (error) {
      const isExpected = error instanceof Error && error.name === 'EngineError';
      if (!isExpected) this.#options.onUnexpected(`${actionOf(step)} of ${computeId}`, error);
      return error instanceof Error ? error.message : String(error);
    }
  }

  #as({ record, ...rest }: StoredOperation, status: OperationRecord['status'], error?: string): Change {
    const value = { ...rest, record: withStatus(record, status, this.#options.clock.now(), error) };
    return { set: 'operation', value };
  }

  #finish({ project, computeId }: Work, operation: StoredOperation, isLast: boolean): Change[] {
    const finished = this.#as(operation, 'finished');
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
      return other === undefined ? [] : [this.#as(other, 'skipped')];
    });
    const failed = [this.#as(operation, 'failed', error), ...skipped];
    const compute = project.computes.get(computeId);
    if (compute === undefined) return failed;
    const now = this.#options.clock.now();
    return [
      ...failed,
      ...changeRecord(compute, project, afterFailure(operation.step, compute.record, now), now),
    ];
  }
}
