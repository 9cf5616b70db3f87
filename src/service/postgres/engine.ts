/** The engine that runs a real Postgres behind every compute. */
import type {
  BranchLogin,
  ComputeAddress,
  ComputeEngine,
  ComputeSpec,
  EngineEvents,
} from '../computeEngine.ts';
import { EngineError } from '../computeEngine.ts';
import { serverAccount } from './account.ts';
import { findBinaries } from './binaries.ts';
import { BranchData } from './branchData.ts';
import { Compute } from './compute.ts';
import { freePorts } from './freePorts.ts';
import { serviceLogins } from './logins.ts';
import { endOrphans } from './orphans.ts';
import { checkSettings, startPrimary, type ServerTools } from './servers.ts';
import { openStorage } from './storage.ts';

export interface PostgresEngineOptions {
  /** Folder of the service's state; the engine keeps to a folder of its own in it. */
  readonly dataDir: string;
  /** Folder with `postgres` and `initdb`; without it they are looked for. */
  readonly postgresPath?: string | undefined;
  /** Takes a line for the service's log. */
  readonly log: (line: string) => void;
}

export function createPostgresEngine(options: PostgresEngineOptions): ComputeEngine {
  const binaries = findBinaries(options.postgresPath);
  if (typeof binaries === 'string') throw new EngineError(binaries);
  const storage = openStorage(options.dataDir, serverAccount());
  const logins = serviceLogins(storage.root);
  return new PostgresEngine(
    { storage, binaries, logins, branches: new BranchData({ storage, binaries, logins }) },
    options.log,
  );
}

class PostgresEngine implements ComputeEngine {
  readonly pooler = { available: false, reason: 'PgBouncer is not installed' } as const;
  readonly #tools: ServerTools;
  readonly #log: (line: string) => void;
  readonly #computes = new Map<string, Compute>();
  #events: EngineEvents | undefined;

  constructor(tools: ServerTools, log: (line: string) => void) {
    this.#tools = tools;
    this.#log = log;
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
    const [port, poolerPort] = await freePorts(2, new Set(taken));
    if (port === undefined || poolerPort === undefined) throw new EngineError('No free port on 127.0.0.1');
    return { port, poolerPort };
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
  }

  async login(branchId: string, role: string, database: string): Promise<BranchLogin | undefined> {
    const login = this.#tools.branches.login(branchId);
    return role === login.role ? { ...login, database } : undefined;
  }

  async close(): Promise<void> {
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
      launch: async (wanted, onLine) => startPrimary(this.#tools, wanted, onLine),
      end: async (current, server) =>
        this.#tools.branches.inTurn(current.branchId, async () => server.stop()),
    });
    this.#computes.set(spec.id, compute);
    return compute;
  }

  #opened(): EngineEvents {
    if (!this.#events) throw new EngineError('The engine is not open');
    return this.#events;
  }
}
