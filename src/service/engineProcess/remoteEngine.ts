/**
 * The engine as the service sees it when it runs as root: every call goes to a process that runs as `nobody`. When that
 * process dies, its computes are reported as crashed, a new process is started, and the addresses answer again.
 */
import type {
  BranchCatalog,
  BranchRestore,
  BranchSpec,
  CatalogChange,
  ComputeAddress,
  ComputeEngine,
  ComputeSpec,
  EngineEvents,
  PooledSessions,
} from '../core/computeEngine.ts';
import { EngineError } from '../core/computeEngine.ts';
import type { PostgresEngineOptions } from '../postgres/engine.ts';
import type { UnixAccount } from './unixAccount.ts';
import { EngineChannel } from './engineChannel.ts';
import { fieldOf, hasFields } from './peer.ts';

export interface RemoteEngineOptions {
  readonly account: UnixAccount;
  /** Called while the process starts. */
  readonly prepare: () => Omit<PostgresEngineOptions, 'log'>;
  readonly log: (line: string) => void;
}

/** A replacement that dies sooner than this is not replaced again. Milliseconds. */
const LEAST_LIFE = 30_000;

export class RemoteEngine implements ComputeEngine {
  pgVersion: number | undefined;
  postgresProblem: string | undefined;
  pooledSessions: PooledSessions = 'shared';
  readonly #options: RemoteEngineOptions;
  readonly #computes = new Map<string, ComputeSpec>();
  #prepared: Omit<PostgresEngineOptions, 'log'> | undefined;
  #events: EngineEvents | undefined;
  #channel: EngineChannel;
  /** Resolves when calls can be sent; rejects when the process could not be started. */
  #ready: Promise<void>;
  #closed: Promise<void> | undefined;
  #replacedAt = Number.NEGATIVE_INFINITY;

  private constructor(options: RemoteEngineOptions) {
    this.#options = options;
    this.#channel = this.#start();
    this.#ready = this.#begin();
  }

  /** @throws {EngineError} */
  static async start(options: RemoteEngineOptions): Promise<RemoteEngine> {
    const engine = new RemoteEngine(options);
    try {
      await engine.#ready;
    } catch (error) {
      await engine.close();
      throw error;
    }
    return engine;
  }

  async open(events: EngineEvents): Promise<void> {
    this.#events = events;
    await this.#call('open');
  }

  async allocateAddress(): Promise<ComputeAddress> {
    const address = await this.#call('allocateAddress');
    if (!isAddress(address)) throw new EngineError('The engine returned no address');
    return address;
  }

  async attach(compute: ComputeSpec): Promise<void> {
    this.#computes.set(compute.id, compute);
    await this.#call('attach', compute);
  }

  async start(compute: ComputeSpec): Promise<void> {
    this.#computes.set(compute.id, compute);
    await this.#call('start', compute);
  }

  async suspend(computeId: string): Promise<void> {
    await this.#call('suspend', computeId);
  }

  async applyConfig(before: ComputeSpec, after: ComputeSpec): Promise<void> {
    await this.#call('applyConfig', before, after);
    this.#computes.set(after.id, after);
  }

  async remove(computeId: string): Promise<void> {
    this.#computes.delete(computeId);
    await this.#call('remove', computeId);
  }

  async createBranch(branch: BranchSpec): Promise<void> {
    await this.#call('createBranch', branch);
  }

  async restoreBranch(restore: BranchRestore): Promise<void> {
    await this.#call('restoreBranch', restore);
  }

  async deleteBranch(branchId: string): Promise<void> {
    await this.#call('deleteBranch', branchId);
  }

  async prepareBranch(branch: BranchSpec): Promise<BranchCatalog> {
    return checkedCatalog(await this.#call('prepareBranch', branch));
  }

  async catalog(branchId: string, passwordOf?: string): Promise<BranchCatalog> {
    return checkedCatalog(await this.#call('catalog', branchId, passwordOf));
  }

  async changeCatalog(branchId: string, change: CatalogChange): Promise<BranchCatalog> {
    return checkedCatalog(await this.#call('changeCatalog', branchId, change));
  }

  /** Empties a folder of data unless processes use it. @returns whether it is empty */
  async empty(folder: string): Promise<boolean> {
    return (await this.#call('empty', folder)) === true;
  }

  async close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    try {
      await this.#channel.call('close');
    } catch (error) {
      this.#options.log(error instanceof Error ? error.message : String(error));
    }
    await this.#channel.close();
  }

  async #call(...call: Parameters<EngineChannel['call']>): Promise<unknown> {
    await this.#ready;
    return this.#channel.call(...call);
  }

  #start(): EngineChannel {
    const { account, log } = this.#options;
    const channel = new EngineChannel({
      account,
      log,
      events: {
        wake: async (id) => this.#opened().wake(id),
        activity: (id, open) => this.#events?.activity(id, open),
        crashed: (id, reason) => this.#events?.crashed(id, reason),
      },
    });
    void channel.ended.then((how) => this.#died(how));
    return channel;
  }

  async #begin(): Promise<void> {
    this.#prepared ??= this.#options.prepare();
    const facts = await this.#channel.call('begin', this.#prepared);
    const [pgVersion, problem] = [fieldOf(facts, 'pgVersion'), fieldOf(facts, 'postgresProblem')];
    this.pgVersion = typeof pgVersion === 'number' ? pgVersion : undefined;
    this.postgresProblem = typeof problem === 'string' ? problem : undefined;
    this.pooledSessions = fieldOf(facts, 'pooledSessions') === 'separate' ? 'separate' : 'shared';
  }

  /** Reports the computes as crashed and replaces the process. Before `open`, the failed call reports it. */
  #died(how: string): void {
    const events = this.#events;
    if (this.#closed !== undefined || events === undefined) return;
    const reason = `the process that runs Postgres ${how}`;
    this.#options.log(`Unexpected: ${reason}`);
    for (const id of this.#computes.keys()) {
      // The connections of its clients have ended with the process.
      events.activity(id, 0);
      events.crashed(id, reason);
    }
    const isTooSoon = performance.now() - this.#replacedAt < LEAST_LIFE;
    this.#ready = isTooSoon ? Promise.reject(new EngineError(reason)) : this.#replace();
    this.#ready.catch((error: unknown) => this.#options.log(`Postgres cannot be used: ${String(error)}`));
  }

  async #replace(): Promise<void> {
    this.#replacedAt = performance.now();
    this.#channel = this.#start();
    await this.#begin();
    await this.#channel.call('open');
    const attached = [...this.#computes.values()].map((spec) => this.#channel.call('attach', spec));
    for (const { reason } of (await Promise.allSettled(attached)).filter(isFailure))
      this.#options.log(String(reason));
  }

  #opened(): EngineEvents {
    if (this.#events === undefined) throw new EngineError('The engine is not open');
    return this.#events;
  }
}

const isFailure = (result: PromiseSettledResult<unknown>): result is PromiseRejectedResult =>
  result.status === 'rejected';

const isAddress = (value: unknown): value is ComputeAddress =>
  ['port', 'poolerPort'].every((name) => {
    const port = fieldOf(value, name);
    return Number.isInteger(port) && Number(port) > 0 && Number(port) < 65_536;
  });

function checkedCatalog(value: unknown): BranchCatalog {
  if (isCatalog(value)) return value;
  throw new EngineError('The engine returned no databases and roles');
}

const isCatalog = (value: unknown): value is BranchCatalog =>
  isListOf(fieldOf(value, 'databases'), { id: 'number', name: 'string', owner: 'string' }) &&
  isListOf(fieldOf(value, 'roles'), { name: 'string', canLogin: 'boolean' }) &&
  ['string', 'undefined'].includes(typeof fieldOf(value, 'password'));

const isListOf = (value: unknown, types: Readonly<Record<string, string>>): boolean =>
  Array.isArray(value) && value.every((item) => hasFields(item, types));
