/**
 * One compute: its address and, while it is active, its server. Changes are queued, so a client that connects during a
 * restart waits for its end.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { limitConcurrency } from '../../base/limitConcurrency.ts';
import {
  asEngineError,
  EngineError,
  type ComputeActivity,
  type ComputeSpec,
  type EngineEvents,
} from '../core/computeEngine.ts';
import type { ServerDependencies } from './branchData/branchData.ts';
import { Gateway, type GatewayTarget } from './network/gateway.ts';
import { Pooler } from './network/pooler.ts';
import { pipeBothWays } from './network/sockets.ts';
import { connectClient } from './rehearsal/rehearsals.ts';
import { ReplicationSenders } from './replication/replicationSenders.ts';
import type { ServerAddress } from './server/serverAddress.ts';
import type { Postmaster } from './server/postmaster.ts';
import { readSessions } from './serverSessions.ts';
import { ComputeLog } from './computeLog.ts';
import { readReplicaLifecycle } from './copies/readReplica.ts';
import { needsServerStop, primaryLifecycle, type ServerLifecycle } from './primaryLifecycle.ts';

interface ComputeDependencies extends ServerDependencies {
  readonly events: EngineEvents;
  readonly log: (line: string) => void;
  /** The path of PgBouncer. Undefined without a usable one: each pooled client then gets a separate session. */
  readonly pooler: string | undefined;
  readonly allowedOrigins: readonly string[];
}

type Target = Pick<GatewayTarget, 'ensureRunning' | 'running' | 'activity' | 'connect' | 'replicate'>;

/** How many milliseconds a client waits for the server. */
const [WAKE_LIMIT, WAKE_PAUSE] = [60_000, 20];

export class ComputeServer {
  readonly log: ComputeLog;
  readonly #deps: ComputeDependencies;
  readonly #lifecycle: ServerLifecycle;
  readonly #senders: ReplicationSenders;
  readonly #serialize = limitConcurrency(1);
  #spec: ComputeSpec;
  #gateway: Gateway | undefined;
  /** Forwards to PgBouncer, or to the server if there is no pooler. */
  #pooledGateway: Gateway | undefined;
  /** Whether the pooled gateway forwards to PgBouncer. */
  #isPooled = false;
  #server: Postmaster | undefined;
  #pooler: Pooler | undefined;
  #waking: Promise<void> | undefined;

  constructor(spec: ComputeSpec, deps: ComputeDependencies) {
    this.#spec = spec;
    this.#deps = deps;
    this.#senders = new ReplicationSenders(deps);
    this.log = new ComputeLog((line) => deps.log(`${spec.id}: ${line}`));
    this.#lifecycle =
      spec.type === 'read_write'
        ? primaryLifecycle(deps)
        : readReplicaLifecycle(deps, (reason) => void this.#restart(reason));
  }

  /** The server, unless it is being stopped. */
  get server(): Postmaster | undefined {
    return this.#server?.isStopping === true ? undefined : this.#server;
  }

  async attach(spec: ComputeSpec): Promise<void> {
    return this.#serialize(async () => {
      this.#spec = spec;
      this.#gateway ??= await this.#listen(spec.address.port, this.#direct);
      await this.#applyPooling();
    });
  }

  async #listen(port: number, target: Target): Promise<Gateway> {
    return Gateway.listen(port, {
      ...target,
      certificate: this.#deps.certificate,
      serveHttp: async (at) => {
        const { createServerlessListener } = await import('./serverlessDriver/serverlessListener.ts');
        const sqlPort = this.#spec.address.port;
        return createServerlessListener({ port: at, sqlPort, allowedOrigins: this.#deps.allowedOrigins });
      },
    });
  }

  #openClients(): number {
    return (
      (this.#gateway?.openConnections ?? 0) +
      (this.#isPooled ? 0 : (this.#pooledGateway?.openConnections ?? 0))
    );
  }

  async start(spec: ComputeSpec): Promise<void> {
    return this.#serialize(async () => {
      this.#spec = spec;
      await this.#start();
    });
  }

  /** @throws {EngineError} */
  async activity(): Promise<ComputeActivity> {
    const server = this.server;
    const gateways = [this.#gateway, this.#isPooled ? undefined : this.#pooledGateway];
    const clientPort = (pid: number) =>
      gateways.flatMap((gateway) => gateway?.clientPort(this.#senders.sessionOf(pid)) ?? [])[0];
    const sessions = server && (await readSessions(this.#deps, server, clientPort));
    return { sessions, pooled_clients: this.#isPooled ? (this.#pooledGateway?.openConnections ?? 0) : 0 };
  }

  async suspend(): Promise<void> {
    return this.#serialize(async () => this.#stop());
  }

  /** Applies a change, with a restart if it needs one. If it fails, the previous state is restored. */
  async applyConfig(after: ComputeSpec): Promise<void> {
    return this.#serialize(async () => {
      const before = this.#spec;
      const restarts = this.server !== undefined && needsServerStop(before, after);
      try {
        if (restarts) await this.#stop();
        this.#spec = after;
        await this.#applyPooling();
        if (restarts && !after.disabled) await this.#start();
      } catch (error) {
        this.#spec = before;
        await this.#restore(restarts);
        throw error;
      }
    });
  }

  async #restore(restarts: boolean): Promise<void> {
    try {
      await this.#applyPooling();
      if (restarts) await this.#start();
    } catch (error) {
      // The caller gets the error of the change. The next client starts the compute again.
      this.log.note(`Couldn't restore the previous configuration: ${String(error)}`);
    }
  }

  async close(): Promise<void> {
    await this.#serialize(async () => {
      await this.#closePooledGateway();
      // A client that still waits must not start PgBouncer again.
      this.#isPooled = false;
      await this.#stopPooler();
      await this.#stop();
    });
    await this.#gateway?.close();
    this.#gateway = undefined;
  }

  async #start(): Promise<void> {
    if (this.#server !== undefined) return;
    if (this.#spec.disabled) throw new EngineError(`Compute ${this.#spec.id} is disabled`);
    const server = await this.#lifecycle.start(this.#spec, this.log.listener()).catch((error: unknown) => {
      const reason = asEngineError(error);
      this.log.keep(`Couldn't start: ${reason.message}`);
      throw reason;
    });
    this.#server = server;
    void server.ended.then((how) => this.#handleEnd(server, how));
  }

  async #stop(): Promise<void> {
    if (this.#server === undefined) return;
    await this.#lifecycle.stop(this.#spec, this.#server);
    this.#server = undefined;
  }

  /** Restarts the server, because the server itself needs that. Clients that connect in the meantime wait. */
  async #restart(reason: string): Promise<void> {
    return this.#serialize(async () => {
      if (this.#server === undefined) return;
      this.log.note(`Restarting: ${reason}`);
      await this.#stop();
      try {
        await this.#start();
      } catch (error) {
        this.#deps.events.crashed(this.#spec.id, String(error));
      }
    });
  }

  /** Opens the pooled address unless the compute is disabled: to PgBouncer if one is installed, else to the server. */
  async #applyPooling(): Promise<void> {
    const { poolerEnabled, disabled } = this.#spec;
    this.#isPooled = !disabled && this.#deps.pooler !== undefined;
    if (disabled) {
      await this.#closePooledGateway();
      await this.#stopPooler();
      return;
    }
    if (this.#pooler) this.#pooler.resize(this.#spec);
    // If pooling is off, the first client that uses the pooled address starts PgBouncer.
    else if (poolerEnabled) await this.#startPooler();
    await this.#openPooledGateway();
  }

  /** Returns the started pooler; undefined if the compute is disabled, or no PgBouncer is installed. */
  async #startPooler(): Promise<Pooler | undefined> {
    const program = this.#isPooled ? this.#deps.pooler : undefined;
    if (program === undefined || this.#pooler) return this.#pooler;
    const pooler = await Pooler.start(this.#deps, program, this.#spec, (line) => this.log.note(line));
    this.#pooler = pooler;
    void pooler.ended.then((how) => {
      if (pooler.isStopping) return;
      this.#pooler = undefined;
      this.log.note(`PgBouncer ${how}. The next client starts it again`);
    });
    return pooler;
  }

  async #stopPooler(): Promise<void> {
    await this.#pooler?.stop();
    this.#pooler = undefined;
  }

  async #openPooledGateway(): Promise<void> {
    try {
      const target = this.#isPooled ? this.#toPooler : this.#toServer;
      this.#pooledGateway ??= await this.#listen(this.#spec.address.poolerPort, target);
    } catch (error) {
      if (this.#spec.poolerEnabled) throw error;
      // A client that doesn't use pooling can do without this address.
      this.log.note(`Couldn't open the pooled address: ${String(error)}`);
    }
  }

  async #closePooledGateway(): Promise<void> {
    await this.#pooledGateway?.close();
    this.#pooledGateway = undefined;
  }

  #handleEnd(server: Postmaster, how: string): void {
    if (this.#server !== server || server.isStopping) return;
    this.#server = undefined;
    this.log.note(`Postgres ${how}`);
    this.#deps.events.crashed(this.#spec.id, `Postgres ${how}`);
  }

  readonly #toServer: Target = {
    ensureRunning: async () => this.#ensureRunning(),
    running: () => this.server?.address,
    activity: () => this.#deps.events.activity(this.#spec.id, this.#openClients()),
    connect: (client, server) => connectClient(this.server, client, server),
  };

  readonly #direct: Target = {
    ...this.#toServer,
    replicate: (...client) => this.#senders.connect(...client, this.#spec, this.server?.address),
  };

  /** PgBouncer's clients are not activity. Its own connections are, and they use the direct address. */
  readonly #toPooler: Target = {
    ensureRunning: async () => this.#ensurePoolerRunning(),
    running: () => this.#pooler?.address,
    activity: () => {},
    connect: pipeBothWays,
  };

  /** Returns PgBouncer's address. Starts it again if it ended unexpectedly. */
  async #ensurePoolerRunning(): Promise<ServerAddress> {
    const pooler = this.#pooler ?? (await this.#serialize(async () => this.#startPooler()));
    if (!pooler) throw new EngineError(`PgBouncer of compute ${this.#spec.id} does not run`);
    return pooler.address;
  }

  /** Returns the server's address. Waits for a change in progress and wakes an idle compute. */
  async #ensureRunning(): Promise<ServerAddress> {
    const until = performance.now() + WAKE_LIMIT;
    while (this.server === undefined) {
      if (performance.now() > until)
        throw new EngineError(
          `compute ${this.#spec.id} did not become reachable within ${WAKE_LIMIT / 1000} s`,
        );
      await this.#serialize(async () => {});
      if (this.#spec.disabled) throw new EngineError(`compute ${this.#spec.id} is disabled`);
      if (this.server) continue;
      await this.#wake();
      // The compute was suspended again, so retry, but not in a tight loop.
      if (!this.server) await sleep(WAKE_PAUSE);
    }
    return this.server.address;
  }

  /** Asks for a start of the compute, and waits for it. Clients that connect at the same time share one start. */
  async #wake(): Promise<void> {
    const { events } = this.#deps;
    this.#waking ??= events.wake(this.#spec.id).finally(() => (this.#waking = undefined));
    return this.#waking;
  }
}
