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
import { changeRecord } from './usage.ts';
import { Operations } from './operations.ts';
import type { Plan } from '../../api/records/sizes.ts';
import { attachAll, resetUncountedTime, setPooledSessions, suspendAll } from './recovery.ts';
import { systemReason } from '../core/errors.ts';
import type { Store } from '../state/store.ts';
import { recordCrash, wake, type WakeOptions } from './engineEvents.ts';

export interface ControlPlaneOptions {
  readonly store: Store;
  /** Its `open` hasn't been called yet. */
  readonly engine: Promise<ComputeEngine>;
  readonly clock: ServiceClock;
  readonly log: (line: string) => void;
  readonly plan: Plan;
  /** The minimum duration of an operation, in milliseconds. */
  readonly operationDelay: number;
  /** False with `--no-postgres`, where computes are only records and so don't end with the service. */
  readonly runsPostgres: boolean;
}

/** Milliseconds between two writes of the use of keys and of compute seconds. */
const USAGE_INTERVAL = 30_000;

/** Milliseconds between two checks for branches to delete. */
const EXPIRY_INTERVAL = 5_000;

export class ControlPlane {
  readonly store: Store;
  readonly clock: ServiceClock;
  readonly plan: Plan;
  readonly keys: ApiKeys;
  readonly computes: Computes;
  readonly databases: Databases;
  readonly roles: Roles;
  readonly branches: Branches;
  readonly projects: Projects;
  /** Resolves when the engine is open. */
  readonly engine: Promise<ComputeEngine>;
  /** Resolves to the reason why no compute can start, if there is one. Never rejects. */
  readonly postgresProblem: Promise<string | undefined>;
  readonly #options: ControlPlaneOptions;
  readonly #operations: Operations;
  readonly #autosuspend: Autosuspend;
  readonly #stopTimers: () => void;

  constructor(options: ControlPlaneOptions) {
    const { store, clock } = options;
    this.#options = options;
    this.store = store;
    this.clock = clock;
    this.plan = options.plan;
    this.keys = new ApiKeys(store, clock);
    this.engine = this.#open();
    this.postgresProblem = this.engine.then(
      ({ postgresProblem }) => postgresProblem,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    const onUnexpected = (what: string, error: unknown) => this.logUnexpected(what, error);
    const shared = { store, clock, engine: this.engine };
    this.#operations = new Operations({ ...shared, minimumDuration: options.operationDelay, onUnexpected });
    this.computes = new Computes({ ...shared, operations: this.#operations, plan: this.plan });
    const catalogs = new BranchCatalogs(shared);
    this.databases = new Databases(catalogs);
    this.roles = new Roles(catalogs);
    const changes = { ...shared, operations: this.#operations, computes: this.computes };
    this.branches = new Branches({ ...changes, catalogs });
    this.projects = new Projects({ ...changes, branches: this.branches, onUnexpected });
    this.#autosuspend = new Autosuspend({
      store,
      clock,
      isBusy: (id) => this.#operations.whenEnded(id) !== undefined,
      suspend: (id) => this.#suspend(id),
    });
    const stopWriting = clock.every(USAGE_INTERVAL, () => this.#writeUsage());
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
    if (this.#options.runsPostgres) store.commit(...suspendAll(store.account, clock.now()));
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
    if (this.#options.runsPostgres) this.store.commit(...suspendAll(this.store.account, this.clock.now()));
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
    this.#options.log(line);
  }

  async #open(): Promise<ComputeEngine> {
    try {
      return await this.#openEngine(await this.#options.engine);
    } catch (error) {
      if (error instanceof EngineError) throw error;
      throw new EngineError(
        `Postgres cannot be used: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }

  async #openEngine(engine: ComputeEngine): Promise<ComputeEngine> {
    const { store, clock, computes } = this;
    const waking: WakeOptions = { store, clock, computes, operations: this.#operations };
    const events: EngineEvents = {
      wake: (id) => wake(waking, id),
      activity: (id, open) => this.#autosuspend.activity(id, open),
      crashed: (id, reason) => recordCrash(waking, id, reason),
    };
    const { projects } = store.account;
    const branches = [...projects.values()].flatMap((project) => [...project.branches.keys()]);
    const ids = [...store.account.computes()].map(({ record }) => record.id);
    await engine.open(events, { branches, computes: ids });
    return engine;
  }

  #suspend(id: string): void {
    const projectId = this.store.account.compute(id)?.record.project_id;
    const project = this.store.account.projects.get(projectId ?? '');
    if (project !== undefined) this.computes.suspend(project, id);
  }

  #writeUsage(): void {
    const { store, clock } = this;
    this.keys.writeUses();
    for (const compute of store.account.active.values()) {
      const project = store.account.projects.get(compute.record.project_id);
      if (project !== undefined) store.commit(...changeRecord(compute, project, compute.record, clock.now()));
    }
  }
}
