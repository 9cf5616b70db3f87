/**
 * Runs operations. Each step of a call is an operation: `scheduling`, then `running`, then `finished` or
 * `failed`. The operations of a call run one after the other, and no other call changes their branch or computes until
 * they have ended. The next start resumes unfinished ones.
 */
import { once } from 'node:events';
import type { Plan } from '../../../api/rules/sizes.ts';
import type { Clock } from '../../../base/clock.ts';
import { delay } from '../../core/serviceClock.ts';
import { EngineError, type ComputeEngine } from '../../core/computeEngine.ts';
import type { ProjectState } from '../../state/accountState.ts';
import type { Store } from '../../state/store.ts';
import {
  isBranchStep,
  isSnapshotStep,
  isUnfinished,
  type Mutation,
  type OperationRecord,
  type StoredOperation,
} from '../../state/storedRecords.ts';
import {
  lockedError,
  newOperation,
  oldOperationRemovals,
  withOperationStatus,
  type OperationTask,
  unfinishedOperations,
} from '../records/operationRecord.ts';
import { failureMutations, successMutations, performStep } from './operationSteps.ts';

/** What the calls of the control plane share. */
export interface ControlPlaneContext {
  readonly store: Store;
  /** Rejects with a message for users if there is no engine. */
  readonly engine: Promise<ComputeEngine>;
  readonly clock: Clock;
  readonly plan: Plan;
  readonly operations: Operations;
  /** Logs a failure that the request did not cause. */
  logUnexpected(what: string, error: unknown): void;
}

interface Work {
  readonly project: ProjectState;
  readonly operationIds: readonly string[];
  /** The ids of the branches and computes that the work changes. */
  readonly subjects: readonly string[];
}

/** Begins operations, runs their steps, and says what they lock. */
export class Operations {
  readonly #plane: Omit<ControlPlaneContext, 'operations'>;
  /** Milliseconds that an operation takes at least. */
  readonly #minimumDuration: number;
  readonly #runsPostgres: boolean;
  readonly #running = new Map<string, { readonly work: Work; readonly ended: Promise<void> }>();
  readonly #stop = new AbortController();

  /** @param runsPostgres false with `--no-postgres` */
  constructor(
    plane: Omit<ControlPlaneContext, 'operations'>,
    minimumDuration: number,
    runsPostgres: boolean,
  ) {
    this.#plane = plane;
    this.#minimumDuration = minimumDuration;
    this.#runsPostgres = runsPostgres;
  }

  /** Returns the unfinished operation of a compute or branch. */
  unfinishedOn(id: string): StoredOperation | undefined {
    const work = this.#running.get(id)?.work;
    const unfinished = work?.operationIds.map((each) => work.project.operations.get(each));
    return unfinished?.find((operation) => operation !== undefined && isUnfinished(operation));
  }

  /** Resolves when no operation runs on the compute or branch any more; undefined if none runs now. */
  whenEnded(id: string): Promise<void> | undefined {
    return this.#running.get(id)?.ended;
  }

  /** @throws {HttpError} 423 while an operation runs on the compute or branch */
  requireFree(id: string): void {
    const operation = this.unfinishedOn(id);
    if (operation !== undefined) throw lockedError(operation);
  }

  /**
   * Records the tasks together with other changes, and starts the first one.
   * @param options `startsBeforeDurable`: whether the first one starts before the disk has the record
   */
  begin(
    projectId: string,
    tasks: readonly OperationTask[],
    mutations: readonly Mutation[],
    { startsBeforeDurable = false }: { readonly startsBeforeDurable?: boolean } = {},
  ): readonly OperationRecord[] {
    const { clock, store } = this.#plane;
    const { account } = store;
    const operations: StoredOperation[] = [];
    for (const [index, task] of tasks.entries()) {
      const status = index === 0 ? 'running' : 'scheduling';
      const operation = newOperation(task, status, clock.now(), operations[0]?.group);
      operations.push(this.#runsPostgres ? operation : { ...operation, isSimulated: true });
    }
    const additions = operations.map((value): Mutation => ({ set: 'operation', value }));
    const existing = account.projects.get(projectId);
    const removals = existing === undefined ? [] : oldOperationRemovals(existing);
    store.commit(...mutations, ...additions, ...removals);
    this.#run(account.project(projectId), operations, { startsBeforeDurable });
    return operations.map(({ record }) => record);
  }

  /** Continues what an earlier run of the service left unfinished. */
  resume(): void {
    for (const project of this.#plane.store.account.projects.values()) {
      const groups = Map.groupBy(unfinishedOperations(project), ({ group }) => group);
      for (const operations of groups.values()) this.#run(project, operations);
    }
  }

  /**
   * Stops the operations. After this, no operation is started and no outcome is recorded. The next run of the service resumes what
   * is unfinished.
   */
  stop(): void {
    this.#stop.abort();
  }

  get isStopped(): boolean {
    return this.#stop.signal.aborted;
  }

  #run(
    project: ProjectState,
    operations: readonly StoredOperation[],
    { startsBeforeDurable = false }: { readonly startsBeforeDurable?: boolean } = {},
  ): void {
    if (this.isStopped) return;
    const operationIds = operations.map(({ record }) => record.id);
    const subjects = subjectsOf(project, operations);
    const work = { project, operationIds, subjects };
    const ended = this.#runSteps(work, startsBeforeDurable)
      .catch((error: unknown) => this.#plane.logUnexpected(`operations on ${subjects.join(', ')}`, error))
      .finally(() => {
        // Newer work on the same ids may have started since the store's last commit.
        for (const id of subjects) if (this.#running.get(id)?.work === work) this.#running.delete(id);
      });
    for (const id of subjects) this.#running.set(id, { work, ended });
  }

  async #runSteps(work: Work, startsBeforeDurable: boolean): Promise<void> {
    const { store, clock } = this.#plane;
    if (!startsBeforeDurable) await store.untilDurable();
    for (const [index, id] of work.operationIds.entries()) {
      const operation = work.project.operations.get(id);
      if (operation === undefined || this.#stop.signal.aborted) return;
      if (!isUnfinished(operation)) continue; // The operation was skipped after an earlier failure.
      if (operation.record.status === 'scheduling') store.commit(this.#statusMutation(operation, 'running'));
      if (needsPostgres(operation) && !(await this.#canPerform(operation))) await this.#untilStopped();
      if (this.#stop.signal.aborted) return;
      const [{ error, parentLsn }] = await Promise.all([
        this.#perform(work, operation),
        delay(clock, this.#minimumDuration, this.#stop.signal),
      ]);
      if (this.#stop.signal.aborted) return;
      const rest = work.operationIds.slice(index + 1).flatMap((each) => {
        const later = work.project.operations.get(each);
        return later === undefined || !dependsOn(later, operation) ? [] : [later];
      });
      store.commit(
        ...(error === undefined
          ? this.#mutationsAfterSuccess(operation, { isLast: rest.length === 0, parentLsn })
          : this.#mutationsAfterFailure(operation, error, rest)),
      );
      // Until then, a crash would let the next start replace the data again, with what clients have written to it.
      if (isBranchStep(operation.step)) await store.untilDurable();
    }
  }

  /** Whether there is Postgres. With `--no-postgres`, only what it has begun can be simulated: other data would stay as it was. */
  async #canPerform({ isSimulated = false }: StoredOperation): Promise<boolean> {
    return this.#plane.engine.then(
      ({ postgresProblem, pgVersion }) =>
        postgresProblem === undefined && (pgVersion !== undefined || isSimulated),
      () => false,
    );
  }

  async #untilStopped(): Promise<void> {
    const { signal } = this.#stop;
    if (!signal.aborted) await once(signal, 'abort');
  }

  /** Returns why the step failed, for users, or else what {@link performStep} returns. */
  async #perform(
    { project }: Work,
    operation: StoredOperation,
  ): Promise<{ readonly error?: string; readonly parentLsn?: string | undefined }> {
    try {
      return { parentLsn: await performStep(operation, await this.#plane.engine, project) };
    } catch (error) {
      const { action, branch_id, endpoint_id = branch_id } = operation.record;
      if (!(error instanceof EngineError)) this.#plane.logUnexpected(`${action} of ${endpoint_id}`, error);
      return { error: error instanceof Error ? error.message : String(error) };
    }
  }

  #statusMutation(operation: StoredOperation, status: OperationRecord['status'], error?: string): Mutation {
    return {
      set: 'operation',
      value: withOperationStatus(operation, status, this.#plane.clock.now(), error),
    };
  }

  #mutationsAfterSuccess(
    operation: StoredOperation,
    outcome: { readonly isLast: boolean; readonly parentLsn: string | undefined },
  ): readonly Mutation[] {
    const { store, clock } = this.#plane;
    return [
      this.#statusMutation(operation, 'finished'),
      ...successMutations(operation, store.account, { ...outcome, now: clock.now() }),
    ];
  }

  /** @param rest the later operations that are skipped */
  #mutationsAfterFailure(
    operation: StoredOperation,
    error: string,
    rest: readonly StoredOperation[],
  ): readonly Mutation[] {
    const { store, clock } = this.#plane;
    const undone = [operation, ...rest.filter(({ step }) => isBranchStep(step))];
    return [
      this.#statusMutation(operation, 'failed', error),
      ...rest.map((each) => this.#statusMutation(each, 'skipped')),
      ...undone.flatMap((each) => failureMutations(each, store.account, clock.now(), error)),
    ];
  }
}

/**
 * Whether the operation makes or replaces data. If an earlier run has begun it, it doesn't fail without Postgres, but is left for the
 * next start: a failure would remove data that may be complete, such as that of a branch that preserves what was replaced.
 */
const needsPostgres = ({ step: { kind } }: StoredOperation): boolean =>
  kind === 'createBranch' || kind === 'restoreBranch' || kind === 'createSnapshot';

/** Whether the later operation is skipped if the earlier one fails. */
const dependsOn = (later: StoredOperation, earlier: StoredOperation): boolean =>
  isBranchStep(earlier.step) ||
  isBranchStep(later.step) ||
  later.record.endpoint_id === earlier.record.endpoint_id;

/** Returns the ids of what the operations lock. A change of a branch also locks its computes. A snapshot doesn't lock its source. */
function subjectsOf(project: ProjectState, operations: readonly StoredOperation[]): readonly string[] {
  const ids = new Set<string>();
  for (const { step, record } of operations) {
    if (record.endpoint_id !== undefined) ids.add(record.endpoint_id);
    if (isSnapshotStep(step)) ids.add(step.snapshotId);
    if (!isBranchStep(step)) continue;
    const branches = [record.branch_id];
    if (step.kind === 'restoreBranch' && step.preservedId !== undefined) branches.push(step.preservedId);
    if (step.kind === 'finalizeBranch') branches.push(step.targetId);
    for (const id of branches) ids.add(id);
    for (const compute of project.computes.values())
      if (branches.includes(compute.record.branch_id)) ids.add(compute.record.id);
  }
  return [...ids];
}
