/** Connects records, rules and operations with an engine. Knows no HTTP. */
import { ApiKeys } from './apiKeys.ts';
import { Autosuspend } from './autosuspend.ts';
import { Branches } from './branches/branches.ts';
import { Projects } from './branches/projects.ts';
import { BranchCatalogs } from './catalog/branchCatalogs.ts';
import { Databases } from './catalog/databases.ts';
import { Roles } from './catalog/roles.ts';
import type { ServiceClock } from '../core/clock.ts';
import { EngineError, type ComputeEngine, type EngineEvents } from '../core/computeEngine.ts';
import { Computes } from './computes.ts';
import { setCompute } from './usage.ts';
import { withState } from './computeRecord.ts';
import { computeTarget, newOperation, withStatus } from './operationRecord.ts';
import { Operations, type PlaneDependencies } from './operations.ts';
import type { Plan } from '../../api/records/sizes.ts';
import { attachAll, resetUncountedTime, setPooledSessions, suspendAll } from './recovery.ts';
import { systemReason } from '../core/errors.ts';
import type { Store } from '../state/store.ts';

/** The control plane opens the engine. */
interface ControlPlaneDependencies extends Omit<PlaneDependencies, 'onUnexpected'> {
  readonly log: (line: string) => void;
  /** The minimum duration of an operation, in milliseconds. */
  readonly operationDelay: number;
  /** False with `--no-postgres`, where computes are only records and so don't end with the service. */
  readonly runsPostgres: boolean;
}

/** Milliseconds between two writes of the usage of keys and computes, and of the size of branches. */
const USAGE_INTERVAL = 30_000;

/** Milliseconds between two checks for expired branches. */
const EXPIRY_INTERVAL = 5_000;

export class ControlPlane {
  readonly store: Store;
  readonly clock: ServiceClock;
  readonly plan: Plan;
  readonly keys: ApiKeys;
  readonly computes: Computes;
  readonly catalogs: BranchCatalogs;
  readonly databases: Databases;
  readonly roles: Roles;
  readonly branches: Branches;
  readonly projects: Projects;
  /** Resolves when the engine is open. */
  readonly engine: Promise<ComputeEngine>;
  /** Resolves to the reason why no compute can start, if there is one. Never rejects. */
  readonly postgresProblem: Promise<string | undefined>;
  readonly #deps: ControlPlaneDependencies;
  readonly #operations: Operations;
  readonly #autosuspend: Autosuspend;
  readonly #stopTimers: () => void;

  constructor(deps: ControlPlaneDependencies) {
    const { store, clock } = deps;
    this.#deps = deps;
    this.store = store;
    this.clock = clock;
    this.plan = deps.plan;
    this.keys = new ApiKeys(store, clock);
    this.engine = this.#open();
    this.postgresProblem = this.engine.then(
      ({ postgresProblem }) => postgresProblem,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    const onUnexpected = (what: string, error: unknown) => this.logUnexpected(what, error);
    const shared = { store, clock, engine: this.engine, plan: this.plan, onUnexpected };
    const operations = new Operations({ ...shared, minimumDuration: deps.operationDelay });
    this.#operations = operations;
    this.computes = new Computes({ ...shared, operations });
    const catalogs = new BranchCatalogs(shared);
    this.catalogs = catalogs;
    this.databases = new Databases(catalogs);
    this.roles = new Roles(catalogs);
    this.branches = new Branches({ ...shared, operations, catalogs });
    this.projects = new Projects({ ...shared, operations, branches: this.branches });
    this.#autosuspend = new Autosuspend({
      store,
      clock,
      isBusy: (id) => this.#operations.whenEnded(id) !== undefined,
      suspend: (id) => this.#suspend(id),
    });
    const stopWriting = clock.every(USAGE_INTERVAL, () => {
      this.#writeUsage();
      void this.#writeSizes();
    });
    const stopDeleting = clock.every(EXPIRY_INTERVAL, () => this.branches.deleteExpired());
    this.#stopTimers = () => {
      stopWriting();
      stopDeleting();
    };
  }

  /** Continues what an earlier run left. Resolves when every compute has opened its address. */
  async begin(): Promise<void> {
    const { store, clock } = this;
    store.commit(...resetUncountedTime(store.account, clock.now()));
    if (this.#deps.runsPostgres) store.commit(...suspendAll(store.account, clock.now()));
    this.#operations.resume();
    this.projects.resume();
    this.branches.deleteExpired();
    const failed = (id: string, error: unknown) =>
      this.#log(`${id} cannot be reached: ${systemReason(error)}`);
    try {
      const engine = await this.engine;
      const { postgresProblem, pooledSessions } = engine;
      if (postgresProblem !== undefined) this.#log(`No compute can start. ${postgresProblem}`);
      store.commit(...setPooledSessions(store.account, pooledSessions));
      await attachAll(store.account, engine, failed);
    } catch (error) {
      this.#log(error instanceof Error ? error.message : String(error));
    }
  }

  /** Ends all computes and writes their state. The next start resumes unfinished operations. */
  async end(): Promise<void> {
    this.#stopTimers();
    this.#autosuspend.close();
    this.#operations.stop();
    this.projects.stop();
    const engine = await this.engine.catch(() => undefined);
    await engine?.close().catch((error: unknown) => this.logUnexpected('ending Postgres', error));
    this.#writeUsage();
    if (this.#deps.runsPostgres) this.store.commit(...suspendAll(this.store.account, this.clock.now()));
    await this.store.whenDurable();
  }

  /** The number of open client connections of a compute. */
  connections(computeId: string): number {
    return this.#autosuspend.connections(computeId);
  }

  logUnexpected(what: string, error: unknown): void {
    this.#log(
      `Unexpected, ${what}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    );
  }

  #log(line: string): void {
    this.#deps.log(line);
  }

  async #open(): Promise<ComputeEngine> {
    try {
      return await this.#openEngine(await this.#deps.engine);
    } catch (error) {
      if (error instanceof EngineError) throw error;
      throw new EngineError(
        `Postgres cannot be used: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }

  async #openEngine(engine: ComputeEngine): Promise<ComputeEngine> {
    const { account } = this.store;
    const events: EngineEvents = {
      wake: (id) => this.#wake(id),
      activity: (id, open) => this.#autosuspend.activity(id, open),
      crashed: (id, reason) => this.#recordCrash(id, reason),
    };
    const branches = [...account.projects.values()].flatMap((project) => [...project.branches.keys()]);
    const ids = [...account.computes()].map(({ record }) => record.id);
    await engine.open(events, { branches, computes: ids });
    return engine;
  }

  /**
   * Starts the compute for a client that waits at its address. Waits for an operation in progress first.
   * @throws {EngineError} with a message for the client
   */
  async #wake(id: string): Promise<void> {
    const operations = this.#operations;
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
    const [operation] = this.computes.startForClient(project, id).operations;
    await operations.whenEnded(id);
    const ended = project.operations.get(operation?.id ?? '')?.record;
    if (ended?.status === 'failed')
      throw new EngineError(ended.error ?? `Compute ${id} could not be started`);
  }

  /** Marks the compute as idle and records a failed check with the reason. */
  #recordCrash(id: string, reason: string): void {
    const { store, clock } = this;
    const compute = store.account.compute(id);
    if (compute?.record.current_state !== 'active' || this.#operations.on(id) !== undefined) return;
    const now = clock.now();
    const idle = withState(compute.record, { current: 'idle', pending: undefined }, now);
    const check = { step: { kind: 'check' }, target: computeTarget(idle) } as const;
    const operation = newOperation(check, 'running', now);
    store.commit(...setCompute(store.account, compute, idle, now), {
      set: 'operation',
      value: withStatus(operation, 'failed', now, reason),
    });
  }

  #suspend(id: string): void {
    const record = this.store.account.compute(id)?.record;
    if (record !== undefined) this.computes.suspend(this.store.account.project(record.project_id), id);
  }

  #writeUsage(): void {
    const { store, clock } = this;
    this.keys.writeUses();
    for (const compute of store.account.activeComputes())
      store.commit(...setCompute(store.account, compute, compute.record, clock.now()));
  }

  /** Only the data of an active compute changes. */
  async #writeSizes(): Promise<void> {
    const { store } = this;
    for (const { record } of store.account.activeComputes()) {
      const { branch_id: id } = record;
      const logical_size = await this.engine.then((engine) => engine.size(id)).catch(() => undefined);
      const branch = store.account.projectOfBranch(id)?.branches.get(id);
      if (logical_size === undefined || branch === undefined || this.#operations.isStopped) continue;
      if (logical_size !== branch.logical_size)
        store.commit({ set: 'branch', value: { ...branch, logical_size } });
    }
  }
}
