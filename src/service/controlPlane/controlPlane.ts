/** Connects records, rules and operations with an engine. HTTP is only in `service/http`. */
import { ApiKeys } from './apiKeys.ts';
import { Autosuspend, AUTOSUSPEND_INTERVAL } from './computes/autosuspend.ts';
import { deleteExpiredBranches } from './branches/branches.ts';
import { deleteExpiredSnapshots } from './branches/snapshots.ts';
import { listRetentions } from './records/historyRetention.ts';
import {
  removeExpiredProjects,
  removeDeletedProjectData,
  removeSurplusProjects,
} from './branches/deletedProjects.ts';
import type { Clock } from '../../base/clock.ts';
import { callEvery, type ServiceClock } from '../core/serviceClock.ts';
import { ClockWatch } from '../core/clockWatch.ts';
import { asEngineError, EngineError, type ComputeEngine, type EngineEvents } from '../core/computeEngine.ts';
import { startForClient } from './computes/computes.ts';
import { computeMutations } from './records/countUsage.ts';
import { withComputeState } from './records/computeRecord.ts';
import { computeTask, newOperation, withOperationStatus } from './records/operationRecord.ts';
import { Operations, type ControlPlaneContext } from './operations/operations.ts';
import type { Plan } from '../../api/rules/sizes.ts';
import {
  attachAllComputes,
  uncountedTimeMutations,
  pooledSessionsMutations,
  recordedIds,
  suspensionMutations,
} from './recovery.ts';
import { systemReason } from '../../base/systemReason.ts';
import type { Store } from '../state/store.ts';

interface ControlPlaneDependencies extends Pick<ControlPlaneContext, 'store' | 'engine' | 'plan'> {
  readonly clock: ServiceClock;
  readonly log: (line: string) => void;
  /** The minimum duration of an operation, in milliseconds. */
  readonly operationDelay: number;
  /** False with `--no-postgres`, where computes are only records and so don't end with the service. */
  readonly runsPostgres: boolean;
}

/** Milliseconds between two writes of the usage of keys and computes, and of the size of branches. */
const USAGE_INTERVAL = 30_000;

/** Milliseconds between two checks for expired branches and snapshots, and for projects that can no longer be recovered. */
const EXPIRY_INTERVAL = 5_000;

/** Milliseconds after which the history of branches in use is maintained again, because it grows. */
const HISTORY_INTERVAL = 10_000;
/**
 * Once in this many times, the maintenance includes all branches, drops idle replication slots and removes surplus deleted
 * projects.
 */
const ALL_HISTORY_EVERY = 6;

/** Holds the account, and carries out the calls of the API. */
export class ControlPlane implements ControlPlaneContext {
  readonly store: Store;
  readonly clock: Clock;
  readonly plan: Plan;
  readonly keys: ApiKeys;
  readonly operations: Operations;
  readonly autosuspend: Autosuspend;
  /** Resolves when the engine is open. */
  readonly engine: Promise<ComputeEngine>;
  /** Resolves to the reason why no compute can start, if there is one. Never rejects. */
  readonly postgresProblem: Promise<string | undefined>;
  readonly #deps: ControlPlaneDependencies;
  readonly #clockWatch: ClockWatch;
  #isMaintaining = false;
  #timesMaintained = 0;
  /** Functions of which each ends a timer. */
  readonly #stopTimers: readonly (() => void)[];

  constructor(deps: ControlPlaneDependencies) {
    const { store, clock, operationDelay } = deps;
    this.#deps = deps;
    this.store = store;
    this.clock = clock;
    this.plan = deps.plan;
    this.keys = new ApiKeys(store, clock);
    this.engine = this.#openEngine();
    this.postgresProblem = this.engine.then(
      ({ postgresProblem }) => postgresProblem,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    this.#clockWatch = new ClockWatch(EXPIRY_INTERVAL, clock);
    this.operations = new Operations(this, operationDelay, deps.runsPostgres);
    this.autosuspend = new Autosuspend(this);
    this.#stopTimers = [
      callEvery(clock, AUTOSUSPEND_INTERVAL, () => this.autosuspend.suspendInactive()),
      callEvery(clock, USAGE_INTERVAL, () => {
        this.#writeUsage();
        void this.#writeSizes();
      }),
      callEvery(clock, EXPIRY_INTERVAL, () => {
        if (!this.#clockWatch.check()) return;
        deleteExpiredBranches(this);
        deleteExpiredSnapshots(this);
        removeExpiredProjects(this);
      }),
      callEvery(clock, HISTORY_INTERVAL, () => {
        // Without an active compute, no history grows.
        if (this.store.account.activeComputes().length > 0) void this.#maintainStorage();
      }),
    ];
  }

  /** Opens the engine. Clients get the message of the error. @throws {EngineError} */
  async #openEngine(): Promise<ComputeEngine> {
    try {
      const engine = await this.#deps.engine;
      const events: EngineEvents = {
        wake: (id) => this.#wake(id),
        activity: (id, open) => this.autosuspend.recordActivity(id, open),
        crashed: (id, reason) => this.#recordCrash(id, reason),
      };
      await engine.open(events, recordedIds(this.store.account));
      return engine;
    } catch (error) {
      if (error instanceof EngineError) throw error;
      throw new EngineError(`Postgres cannot be used: ${asEngineError(error).message}`);
    }
  }

  /** Continues what an earlier run left. Resolves when every compute has opened its address. */
  async begin(): Promise<void> {
    const { store, clock } = this;
    const { log, runsPostgres } = this.#deps;
    store.commit(...uncountedTimeMutations(store.account, clock.now()));
    if (runsPostgres) store.commit(...suspensionMutations(store.account, clock.now()));
    this.operations.resume();
    for (const leftover of store.account.leftovers.values()) void removeDeletedProjectData(this, leftover);
    try {
      const engine = await this.engine;
      const { postgresProblem, pooledSessions } = engine;
      if (postgresProblem !== undefined) log(`No compute can start. ${postgresProblem}`);
      store.commit(...pooledSessionsMutations(store.account, pooledSessions));
      void this.#maintainStorage();
      await attachAllComputes(store.account, engine, (id, error) => {
        if (!this.operations.isStopped) log(`${id} cannot be reached: ${systemReason(error)}`);
      });
    } catch (error) {
      log(error instanceof Error ? error.message : String(error));
    }
  }

  /** Ends all computes and writes their state. The next start resumes unfinished operations. */
  async end(): Promise<void> {
    for (const stop of this.#stopTimers) stop();
    this.operations.stop();
    const engine = await this.engine.catch(() => undefined);
    await engine?.close().catch((error: unknown) => this.logUnexpected('ending Postgres', error));
    this.#writeUsage();
    if (this.#deps.runsPostgres)
      this.store.commit(...suspensionMutations(this.store.account, this.clock.now()));
    await this.store.whenDurable();
  }

  logUnexpected(what: string, error: unknown): void {
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#deps.log(`Unexpected, ${what}: ${reason}`);
  }

  /**
   * Starts the compute for a client that waits at its address. Waits for an operation in progress first.
   * @throws {EngineError} with a message for the client
   */
  async #wake(id: string): Promise<void> {
    const { operations } = this;
    if (operations.isStopped) throw new EngineError('The service is stopping');
    const busy = operations.whenEnded(id);
    if (busy !== undefined) {
      await busy;
      const isUp = this.store.account.compute(id)?.record.current_state === 'active';
      return isUp ? undefined : this.#wake(id);
    }
    const record = this.store.account.compute(id)?.record;
    if (record === undefined) throw new EngineError(`There is no compute ${id}`);
    if (record.disabled) throw new EngineError(`Compute ${id} is disabled`);
    const project = this.store.account.project(record.project_id);
    const [operation] = startForClient(this, project, id).operations;
    await operations.whenEnded(id);
    const ended = project.operations.get(operation?.id ?? '')?.record;
    if (ended?.status === 'failed')
      throw new EngineError(ended.error ?? `Compute ${id} could not be started`);
  }

  /** Marks the compute as idle and records a failed check with the reason. */
  #recordCrash(id: string, reason: string): void {
    const { store, clock } = this;
    const compute = store.account.compute(id);
    if (compute?.record.current_state !== 'active' || this.operations.unfinishedOn(id) !== undefined) return;
    const now = clock.now();
    const idle = withComputeState(
      compute.record,
      { current: 'idle', pending: undefined, error: reason },
      now,
    );
    const operation = newOperation(computeTask(idle, { kind: 'check' }), 'running', now);
    store.commit(...computeMutations(store.account, compute, idle, now), {
      set: 'operation',
      value: withOperationStatus(operation, 'failed', now, reason),
    });
  }

  /**
   * Lets the engine make and remove history: of branches with an active compute, and sometimes of all, because without a compute,
   * history only gets older. Then, idle replication slots of branches with an active compute are dropped as well, and deleted projects
   * are removed for good while their data takes too much space.
   */
  async #maintainStorage(): Promise<void> {
    const engine = await this.engine.catch(() => undefined);
    if (engine === undefined || this.operations.isStopped || this.#isMaintaining) return;
    this.#isMaintaining = true;
    try {
      const { account } = this.store;
      const used = new Set(account.activeComputes().map(({ record }) => record.branch_id));
      const isAll = this.#timesMaintained % ALL_HISTORY_EVERY === 0;
      this.#timesMaintained += 1;
      const branches = listRetentions(account, (id) => isAll || used.has(id));
      await engine.keepHistory(branches, { isAll, canExpire: this.#clockWatch.isTrusted });
      if (!isAll) return;
      await engine.dropIdleSlots([...used], (ALL_HISTORY_EVERY * HISTORY_INTERVAL) / 1000);
      await removeSurplusProjects(this);
    } finally {
      this.#isMaintaining = false;
    }
  }

  #writeUsage(): void {
    const { store, clock } = this;
    this.keys.writeUses();
    for (const compute of store.account.activeComputes())
      store.commit(...computeMutations(store.account, compute, compute.record, clock.now()));
  }

  /** Writes the sizes of the branches with an active compute, because only their data changes. */
  async #writeSizes(): Promise<void> {
    const { store } = this;
    for (const { record } of store.account.activeComputes()) {
      const { branch_id: id } = record;
      const size = await this.engine.then((engine) => engine.size(id)).catch(() => undefined);
      const branch = store.account.projectOfBranch(id)?.branches.get(id);
      if (size === undefined || branch === undefined || this.operations.isStopped) continue;
      const { databases: logical_size, history: history_size } = size;
      if (logical_size !== branch.logical_size || history_size !== branch.history_size)
        store.commit({ set: 'branch', value: { ...branch, logical_size, history_size } });
    }
  }
}
