/** The engine that runs a real Postgres behind every compute. */
import { rmSync } from 'node:fs';
import type {
  BranchLogin,
  ComputeAddress,
  ComputeEngine,
  ComputeSpec,
  EngineEvents,
} from '../core/computeEngine.ts';
import { EngineError } from '../core/computeEngine.ts';
import { serverAccount } from './serverAccount.ts';
import { Autoscaler } from './autoscaler.ts';
import { findBinaries, reachableBinaries } from './binaries.ts';
import { BranchData } from './branchData.ts';
import { Compute, type ServerRole } from './compute.ts';
import { hasDatabase } from './databases.ts';
import { freePorts } from './freePorts.ts';
import { serviceLogins } from './logins.ts';
import { endOrphans } from './orphans.ts';
import { findPooler, Pooler } from './pooler.ts';
import type { Postmaster } from './postmaster.ts';
import { Primary } from './primary.ts';
import { ReadReplica } from './readReplica.ts';
import { checkSettings, type ServerTools } from './servers.ts';
import { openStorage } from './storage.ts';
import { WithoutPostgres } from './withoutPostgres.ts';

export interface PostgresEngineOptions {
  /** Folder of the service's state; the engine keeps to a folder of its own in it. */
  readonly dataDir: string;
  /** Folder with `postgres` and `initdb`; without it they are looked for. */
  readonly postgresPath?: string | undefined;
  /** Takes a line for the service's log. */
  readonly log: (line: string) => void;
}

export function createPostgresEngine(options: PostgresEngineOptions): ComputeEngine {
  const found = findBinaries(options.postgresPath);
  if (typeof found === 'string') return new WithoutPostgres(found);
  const storage = openStorage(options.dataDir, serverAccount());
  const binaries = reachableBinaries(found, storage);
  const logins = serviceLogins(storage.root);
  const ending = new AbortController();
  const making = { storage, binaries, logins, ending: ending.signal };
  return new PostgresEngine({ ...making, branches: new BranchData(making) }, ending, options.log);
}

class PostgresEngine implements ComputeEngine {
  readonly pgVersion: number;
  readonly pooler: ComputeEngine['pooler'];
  readonly #poolerProgram = findPooler();
  readonly #tools: ServerTools;
  readonly #ending: AbortController;
  readonly #log: (line: string) => void;
  readonly #computes = new Map<string, Compute>();
  #events: EngineEvents | undefined;

  constructor(tools: ServerTools, ending: AbortController, log: (line: string) => void) {
    this.#tools = tools;
    this.pgVersion = tools.binaries.major;
    this.#ending = ending;
    this.#log = log;
    this.pooler =
      'reason' in this.#poolerProgram
        ? { available: false, reason: this.#poolerProgram.reason }
        : { available: true };
  }

  async open(events: EngineEvents): Promise<void> {
    this.#events = events;
    const ended = await endOrphans(this.#tools.storage);
    if (ended > 0) this.#log(`Ended ${ended} processes that an earlier service left behind`);
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
    for (const folder of [storage.replica(computeId), storage.pooler(computeId)])
      rmSync(folder, { recursive: true, force: true });
  }

  async login(branchId: string, role: string, database: string): Promise<BranchLogin | undefined> {
    const login = this.#tools.branches.login(branchId);
    if (role !== login.role) return undefined;
    const exists = await hasDatabase(this.#tools, branchId, database);
    return exists ? { ...login, database } : undefined;
  }

  async close(): Promise<void> {
    this.#ending.abort();
    await Promise.all([...this.#computes.values()].map(async (compute) => compute.close()));
    this.#computes.clear();
    this.#tools.storage.removeSockets();
  }

  #compute(spec: ComputeSpec): Compute {
    const known = this.#computes.get(spec.id);
    if (known) return known;
    const compute = new Compute(spec, {
      events: () => this.#opened(),
      log: this.#log,
      hasPooler: this.pooler.available,
      startPooler: async (wanted, log) => this.#startPooler(wanted, log),
      scale: (range, server, open) => this.#scale(range, server, open),
      role: (restart) => this.#role(spec.type, restart),
    });
    this.#computes.set(spec.id, compute);
    return compute;
  }

  #scale(range: ComputeSpec, server: Postmaster, open: () => number): void {
    new Autoscaler({
      server,
      range,
      open,
      account: this.#tools.storage.account,
      superuserPassword: this.#tools.logins.superuser,
      log: (line) => this.#log(`${range.id}: ${line}`),
    });
  }

  async #startPooler(compute: ComputeSpec, log: (line: string) => void): Promise<Pooler> {
    if ('reason' in this.#poolerProgram) throw new EngineError(this.#poolerProgram.reason);
    return Pooler.start(this.#tools, this.#poolerProgram.program, compute, log);
  }

  #role(type: ComputeSpec['type'], restart: (reason: string) => void): ServerRole {
    const tools = this.#tools;
    if (type === 'read_write')
      return new Primary({ tools, replicasOf: (branchId) => this.#replicasOf(branchId) });
    return new ReadReplica({
      tools,
      primaryOf: (branchId) => this.#onBranch(branchId, 'read_write')[0]?.spec,
      restart,
    });
  }

  #replicasOf(branchId: string): Postmaster[] {
    return this.#onBranch(branchId, 'read_only').flatMap(({ server }) => (server ? [server] : []));
  }

  #onBranch(branchId: string, type: ComputeSpec['type']): Compute[] {
    return [...this.#computes.values()].filter(
      ({ spec }) => spec.branchId === branchId && spec.type === type,
    );
  }

  #opened(): EngineEvents {
    if (!this.#events) throw new EngineError('The engine is not open');
    return this.#events;
  }
}
