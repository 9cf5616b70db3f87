/** The engine that runs a real Postgres for each compute. */
import {
  type BranchCatalog,
  type BranchRestore,
  type BranchSpec,
  type CatalogChange,
  type ComputeAddress,
  type ComputeEngine,
  type ComputeSpec,
  type EngineEvents,
  type PooledSessions,
  type RecordedIds,
  EngineError,
} from '../core/computeEngine.ts';
import { Catalogs } from './catalog/catalogs.ts';
import { chooseBinaries, type Programs } from './config/programs.ts';
import { createBranch, deleteBranch, restoreBranch } from './data/branches.ts';
import { BranchData, type ServerTools } from './data/branchData.ts';
import { Compute, type StartPooler } from './compute.ts';
import { certificateOf } from './network/certificate.ts';
import { freePorts } from './network/serverAddress.ts';
import { serviceLogins } from './data/logins.ts';
import { removeAll } from './data/files.ts';
import { endOrphans } from './process/orphans.ts';
import { Pooler } from './network/pooler.ts';
import { primaryRole, ReadReplica } from './serverRoles.ts';
import { checkSettings } from './config/settings.ts';
import { emptyFolder, majorsInUse, openStorage, removeUnrecorded } from './data/storage.ts';
import { PostgresMissing } from './withoutPostgres.ts';

export { findPrograms } from './config/programs.ts';

interface PostgresEngineOptions {
  /** The folder for all data. */
  readonly root: string;
  readonly programs: Programs;
  /** Writes a line to the service's log. */
  readonly log: (line: string) => void;
}

/** Removes all data in a folder that no service uses, after it has ended the servers that still run on it. */
export async function emptyStorage(root: string): Promise<void> {
  await endOrphans({ root });
  await emptyFolder(root);
}

export function createPostgresEngine(options: PostgresEngineOptions): ComputeEngine {
  const binaries = chooseBinaries(options.programs, majorsInUse(options.root));
  const storage = openStorage(options.root);
  if (typeof binaries === 'string') return new PostgresMissing(binaries, storage);
  const logins = serviceLogins(storage.root);
  const shutdown = new AbortController();
  const parts = { storage, binaries, logins, shutdownSignal: shutdown.signal };
  const certificate = certificateOf(options.root);
  return new PostgresEngine({ ...parts, certificate, branches: new BranchData(parts) }, shutdown, options);
}

class PostgresEngine implements ComputeEngine {
  readonly pgVersion: number;
  readonly postgresProblem = undefined;
  readonly pooledSessions: PooledSessions;
  readonly #tools: ServerTools;
  readonly #shutdown: AbortController;
  readonly #options: PostgresEngineOptions;
  readonly #catalogs: Catalogs;
  readonly #computes = new Map<string, Compute>();
  #events: EngineEvents | undefined;

  constructor(tools: ServerTools, shutdown: AbortController, options: PostgresEngineOptions) {
    this.#tools = tools;
    this.#catalogs = new Catalogs(tools);
    this.pgVersion = tools.binaries.major;
    this.#shutdown = shutdown;
    this.#options = options;
    this.pooledSessions = options.programs.pooler === undefined ? 'separate' : 'shared';
  }

  async open(events: EngineEvents, recorded: RecordedIds): Promise<void> {
    this.#events = events;
    const { storage } = this.#tools;
    const ended = await endOrphans(storage);
    storage.removeSockets();
    if (ended > 0) this.#options.log(`Ended ${ended} processes that an earlier service left behind`);
    await removeUnrecorded(storage.root, recorded).catch((error: unknown) =>
      this.#options.log(`Couldn't remove files that are no longer needed: ${String(error)}`),
    );
  }

  async allocateAddress(): Promise<ComputeAddress> {
    const taken = [...this.#computes.values()].flatMap(({ spec }) => [
      spec.address.port,
      spec.address.poolerPort,
    ]);
    return freePorts(new Set(taken));
  }

  async attach(spec: ComputeSpec): Promise<void> {
    await this.#compute(spec).attach(spec);
  }

  async start(spec: ComputeSpec): Promise<void> {
    await this.#compute(spec).start(spec);
  }

  async suspend(computeId: string): Promise<void> {
    await this.#computes.get(computeId)?.suspend();
  }

  async applyConfig(_before: ComputeSpec, after: ComputeSpec): Promise<void> {
    await checkSettings(this.#tools, after);
    await this.#compute(after).applyConfig(after);
  }

  async remove(computeId: string): Promise<void> {
    await this.#computes.get(computeId)?.close();
    this.#computes.delete(computeId);
    const { storage } = this.#tools;
    for (const folder of [storage.replica(computeId), storage.pooler(computeId)]) removeAll(folder);
  }

  async createBranch(branch: BranchSpec): Promise<void> {
    await createBranch(this.#tools, branch);
  }

  async restoreBranch(restore: BranchRestore): Promise<void> {
    await restoreBranch(this.#tools, restore);
  }

  async deleteBranch(branchId: string): Promise<void> {
    await deleteBranch(this.#tools, branchId);
  }

  async prepareBranch({ id, owner }: BranchSpec): Promise<BranchCatalog> {
    return this.#tools.branches.prepare(id, owner);
  }

  async catalog(branchId: string, passwordOf?: string): Promise<BranchCatalog> {
    return this.#catalogs.read(branchId, passwordOf);
  }

  async changeCatalog(branchId: string, change: CatalogChange): Promise<BranchCatalog> {
    return this.#catalogs.change(branchId, change);
  }

  async close(): Promise<void> {
    this.#shutdown.abort(new EngineError('The service is stopping'));
    await Promise.all([...this.#computes.values()].map(async (compute) => compute.close()));
    this.#computes.clear();
    await this.#tools.branches.settled();
    this.#tools.storage.removeSockets();
  }

  #compute(spec: ComputeSpec): Compute {
    const known = this.#computes.get(spec.id);
    if (known) return known;
    const compute = new Compute(spec, {
      events: () => this.#opened(),
      log: this.#options.log,
      certificate: this.#tools.certificate,
      startPooler: this.#startPooler(),
      role: (restart) =>
        spec.type === 'read_write' ? primaryRole(this.#tools) : new ReadReplica(this.#tools, restart),
    });
    this.#computes.set(spec.id, compute);
    return compute;
  }

  #startPooler(): StartPooler | undefined {
    const { pooler } = this.#options.programs;
    if (pooler === undefined) return undefined;
    return async (compute, log) => Pooler.start(this.#tools, pooler, compute, log);
  }

  #opened(): EngineEvents {
    if (!this.#events) throw new EngineError('The engine is not open');
    return this.#events;
  }
}
