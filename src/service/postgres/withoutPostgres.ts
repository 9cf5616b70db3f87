/** The engines without Postgres: one on which no compute can start, and one that simulates computes. */
import { rm } from 'node:fs/promises';
import {
  EngineError,
  type BranchCatalog,
  type ComputeAddress,
  type ComputeEngine,
  type ComputeSpec,
} from '../core/computeEngine.ts';
import type { Storage } from './data/storage.ts';
import type { Certificate } from './network/certificate.ts';
import { freePorts } from './network/freePorts.ts';
import { Gateway } from './network/gateway.ts';
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
 * For a machine without a usable Postgres. Computes exist and can be changed, but every start fails. A client that connects
 * to a compute gets the reason as a Postgres error.
 */
export class PostgresMissing implements ComputeEngine {
  readonly pgVersion = undefined;
  readonly postgresProblem: string;
  readonly pooledSessions = 'separate';
  readonly #certificate: () => Certificate;
  /** With the data from when there was a Postgres. */
  readonly #storage: Storage;
  readonly #gateways = new Map<number, Promise<Gateway>>();
  readonly #ports = new Map<string, ComputeAddress>();

  constructor(problem: string, certificate: () => Certificate, storage: Storage) {
    this.postgresProblem = problem;
    this.#certificate = certificate;
    this.#storage = storage;
  }

  async open(): Promise<void> {
    await endOrphans(this.#storage);
  }

  async allocateAddress(): Promise<ComputeAddress> {
    return freePorts(
      new Set([...this.#ports.values()].flatMap(({ port, poolerPort }) => [port, poolerPort])),
    );
  }

  async attach({ id, address, disabled }: ComputeSpec): Promise<void> {
    this.#ports.set(id, address);
    await this.#listen(address.port);
    await (disabled ? this.#close(address.poolerPort) : this.#listen(address.poolerPort));
  }

  async start(): Promise<never> {
    throw new EngineError(this.postgresProblem);
  }

  async suspend(): Promise<void> {}

  async applyConfig(_before: ComputeSpec, after: ComputeSpec): Promise<void> {
    await this.attach(after);
  }

  async remove(computeId: string): Promise<void> {
    const address = this.#ports.get(computeId);
    this.#ports.delete(computeId);
    if (address !== undefined)
      await Promise.all([address.port, address.poolerPort].map((port) => this.#close(port)));
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

  async close(): Promise<void> {
    await Promise.all([...this.#gateways.keys()].map((port) => this.#close(port)));
  }

  async #listen(port: number): Promise<void> {
    const listening =
      this.#gateways.get(port) ??
      Gateway.listen(port, {
        reach: () => this.start(),
        running: () => undefined,
        certificate: this.#certificate,
        activity: () => undefined,
      });
    this.#gateways.set(port, listening);
    await listening.catch((error: unknown) => {
      this.#gateways.delete(port);
      throw error;
    });
  }

  async #close(port: number): Promise<void> {
    const gateway = await this.#gateways.get(port);
    this.#gateways.delete(port);
    await gateway?.close();
  }
}
