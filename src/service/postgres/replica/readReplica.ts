/**
 * A read replica: a hot standby on its own copy of the branch, which streams from the primary's own socket. That is not the
 * primary's address, so a replica neither wakes its primary nor counts as activity. While the primary is suspended, it
 * retries and continues to serve reads. If its copy can't be used, the branch is copied again.
 */
import path from 'node:path';
import { type ComputeSpec, REPLICATOR } from '../../core/computeEngine.ts';
import { areEnough, highest, standbySettings, type StandbySettings } from '../config/settings.ts';
import type { ServerTools } from '../data/branchData.ts';
import { writePrivateFile } from '../data/privateFiles.ts';
import { addressOf, hostAndPort } from '../network/serverAddress.ts';
import { launchServer } from '../process/launchServer.ts';
import type { Postmaster } from '../process/postmaster.ts';
import { isCopyUsable, seed } from './seed.ts';
import { canStream } from './streaming.ts';

type OnLine = (line: string) => void;

export class ReadReplica {
  readonly #tools: ServerTools;
  readonly #restart: (reason: string) => void;
  #mustSeed = false;

  /** @param restart asks for a stop and a start of this replica */
  constructor(tools: ServerTools, restart: (reason: string) => void) {
    this.#tools = tools;
    this.#restart = restart;
  }

  /** @throws {EngineError} with Postgres's own reason */
  async start(compute: ComputeSpec, onLine: OnLine): Promise<Postmaster> {
    const { branches } = this.#tools;
    return branches.withLock(compute.branchId, async () => {
      await branches.ensure(compute.branchId);
      const settings = highest(standbySettings(compute), branches.standbySettings(compute.branchId));
      const existing = await this.#startExisting(compute, settings, onLine);
      const server = existing ?? (await this.#seedAndLaunch(compute, settings, onLine));
      this.#watch(compute, server, settings);
      // A new copy that doesn't stream would not be better the second time.
      const primary = branches.primary(compute.branchId);
      if (existing !== undefined && primary !== undefined)
        void this.#checkStreaming(compute, server, primary);
      return server;
    });
  }

  async stop(_compute: ComputeSpec, server: Postmaster): Promise<void> {
    await server.stop();
  }

  async #startExisting(
    compute: ComputeSpec,
    settings: StandbySettings,
    onLine: OnLine,
  ): Promise<Postmaster | undefined> {
    if (this.#mustSeed || !isCopyUsable(this.#tools, compute)) return undefined;
    try {
      return await this.#launch(compute, settings, onLine);
    } catch (error) {
      onLine(`Copying ${compute.branchId} again: ${String(error)}`);
      return undefined;
    }
  }

  async #seedAndLaunch(compute: ComputeSpec, settings: StandbySettings, onLine: OnLine): Promise<Postmaster> {
    const release = await seed(this.#tools, compute);
    try {
      this.#mustSeed = false;
      return await this.#launch(compute, settings, onLine);
    } finally {
      await release();
    }
  }

  async #launch(compute: ComputeSpec, settings: StandbySettings, onLine: OnLine): Promise<Postmaster> {
    const { storage, logins } = this.#tools;
    const source = hostAndPort(await addressOf(storage, compute.branchId));
    const passfile = path.join(storage.root, 'replicator.pgpass');
    writePrivateFile(passfile, `*:*:*:${REPLICATOR}:${logins.replicator}\n`);
    return launchServer(this.#tools, {
      compute,
      dataDir: path.join(storage.replica(compute.id), 'data'),
      name: compute.id,
      onLine: withoutRetries(onLine),
      inFile: new Map([
        [
          'primary_conninfo',
          `host=${quoted(source.host)} port=${source.port} user=${REPLICATOR} passfile=${quoted(passfile)}`,
        ],
        // The longest time until a row shows after the primary was started.
        ['wal_retrieve_retry_interval', '500ms'],
      ]),
      onCommandLine: new Map(Object.entries(settings)),
    });
  }

  /** Follows each later start of the primary. */
  #watch(compute: ComputeSpec, server: Postmaster, settings: StandbySettings): void {
    const stop = this.#tools.branches.onPrimaryStart((branchId, primary, required) => {
      if (branchId !== compute.branchId || server.isStopping) return;
      if (!areEnough(settings, required)) return this.#restart('its primary now has higher settings');
      // It connects at once instead of after its pause.
      server.reload();
      void this.#checkStreaming(compute, server, primary);
    });
    void server.ended.then(stop);
  }

  async #checkStreaming(compute: ComputeSpec, server: Postmaster, primary: Postmaster): Promise<void> {
    const standby = { server, name: compute.id };
    if (await canStream(primary, standby, this.#tools)) return;
    this.#mustSeed = true;
    this.#restart('it cannot follow its primary, so the branch is copied again');
  }
}

/** A value in a libpq connection string. */
const quoted = (value: string) => `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

/** What a standby repeats every few seconds while its primary is suspended. */
const RETRY =
  /could not connect to the primary server|Is the server running locally|waiting for WAL to become available|invalid record length|replication terminated by primary|End of WAL reached|could not send end-of-streaming|the database system is (starting up|shutting down)/;

/** Leaves these lines out of the log. Nothing depends on it. */
function withoutRetries(onLine: (line: string) => void): (line: string) => void {
  let isRetry = false;
  return (line) => {
    // A line that starts with a tab continues the one before.
    if (!line.startsWith('\t')) isRetry = RETRY.test(line);
    if (!isRetry) onLine(line);
  };
}
