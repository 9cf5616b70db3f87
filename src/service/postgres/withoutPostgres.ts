/** The engines without Postgres: one on which no compute can start, and one that simulates computes. */
import { rm } from 'node:fs/promises';
import {
  EngineError,
  type BranchCatalog,
  type ComputeAddress,
  type ComputeEngine,
  type ComputeSpec,
  type EngineEvents,
  type RecordedIds,
} from '../core/computeEngine.ts';
import { removeUnrecorded, type Storage } from './data/storage.ts';
import { freePorts } from './network/serverAddress.ts';
import { endOrphans } from './process/orphans.ts';

const FIRST_PORT = 2_000;
const LAST_PORT = 65_534;

const removeFolder = (folder: string) => rm(folder, { recursive: true, force: true, maxRetries: 3 });

const SIMULATED = 'The service simulates computes (--no-postgres): there are no databases and roles.';

/** For `--no-postgres`: computes change their state, but there is nothing behind them. */
export class SimulatedEngine implements ComputeEngine {
  readonly pgVersion = undefined;
  readonly postgresProblem = undefined;
  readonly pooledSessions = 'shared';
  #nextPort = 15_432;

  async open(): Promise<void> {}

  /** The caller skips addresses that are in use. */
  async allocateAddress(): Promise<ComputeAddress> {
    const port = this.#nextPort;
    this.#nextPort = port + 2 > LAST_PORT ? FIRST_PORT : port + 2;
    return { port, poolerPort: port + 1 };
  }

  async attach(_compute: ComputeSpec): Promise<void> {}

  async start(): Promise<void> {}

  async suspend(): Promise<void> {}

  async applyConfig(): Promise<void> {}

  async remove(_computeId: string): Promise<void> {}

  async createBranch(): Promise<void> {}

  async restoreBranch(): Promise<void> {}

  async deleteBranch(): Promise<void> {}

  async prepareBranch(): Promise<BranchCatalog> {
    return { databases: [], roles: [] };
  }

  async catalog(): Promise<BranchCatalog> {
    throw new EngineError(SIMULATED);
  }

  async changeCatalog(): Promise<BranchCatalog> {
    throw new EngineError(SIMULATED);
  }

  async close(): Promise<void> {}
}

/**
 * For a machine without a usable Postgres. Computes exist and can be changed, but every start fails, and nothing listens on
 * their ports.
 */
export class PostgresMissing implements ComputeEngine {
  readonly pgVersion = undefined;
  readonly postgresProblem: string;
  readonly pooledSessions = 'separate';
  /** With the data from when there was a Postgres. */
  readonly #storage: Storage;
  readonly #ports = new Map<string, ComputeAddress>();

  constructor(problem: string, storage: Storage) {
    this.postgresProblem = problem;
    this.#storage = storage;
  }

  async open(_events: EngineEvents, recorded: RecordedIds): Promise<void> {
    await endOrphans(this.#storage);
    await removeUnrecorded(this.#storage.root, recorded).catch(() => undefined);
  }

  async allocateAddress(): Promise<ComputeAddress> {
    return freePorts(
      new Set([...this.#ports.values()].flatMap(({ port, poolerPort }) => [port, poolerPort])),
    );
  }

  async attach({ id, address }: ComputeSpec): Promise<void> {
    this.#ports.set(id, address);
  }

  async start(): Promise<never> {
    throw new EngineError(this.postgresProblem);
  }

  async suspend(): Promise<void> {}

  async applyConfig(_before: ComputeSpec, after: ComputeSpec): Promise<void> {
    await this.attach(after);
  }

  async remove(computeId: string): Promise<void> {
    this.#ports.delete(computeId);
    for (const folder of [this.#storage.replica(computeId), this.#storage.pooler(computeId)])
      await removeFolder(folder);
  }

  async createBranch(): Promise<never> {
    throw new EngineError(this.postgresProblem);
  }

  async restoreBranch(): Promise<never> {
    throw new EngineError(this.postgresProblem);
  }

  async deleteBranch(branchId: string): Promise<void> {
    await removeFolder(this.#storage.branch(branchId));
  }

  async prepareBranch(): Promise<never> {
    throw new EngineError(this.postgresProblem);
  }

  async catalog(): Promise<never> {
    throw new EngineError(this.postgresProblem);
  }

  async changeCatalog(): Promise<never> {
    throw new EngineError(this.postgresProblem);
  }

  async close(): Promise<void> {}
}
