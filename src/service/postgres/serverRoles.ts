/** What differs between the servers of a branch: its primary and its read replicas. */
import path from 'node:path';
import { type ComputeSpec, REPLICATOR } from '../core/computeEngine.ts';
import type { ServerRole } from './compute.ts';
import { type StandbySettings, areEnough, highest, standbySettings } from './config/settings.ts';
import type { ServerTools } from './data/branchData.ts';
import { writePrivateFile } from './data/files.ts';
import { addressOf, hostAndPort } from './network/serverAddress.ts';
import { type SuperuserTools, connectAsSuperuser } from './network/superuser.ts';
import { launchServer } from './process/launchServer.ts';
import type { Postmaster } from './process/postmaster.ts';
import { isCopyUsable, keepWalForReplicas, seed } from './data/replicaCopies.ts';

/** A primary: the only server that runs on its branch's data. */
export const primaryRole = (tools: ServerTools): ServerRole => ({
  start: async (compute, onLine) =>
    tools.branches.withLock(compute.branchId, async () => {
      const dataDir = await tools.branches.ensure(compute.branchId);
      const settings = standbySettings(compute);
      tools.branches.saveStandbySettings(compute.branchId, settings);
      keepWalForReplicas(tools, compute.branchId);
      const server = await launchServer(tools, { compute, dataDir, name: compute.branchId, onLine });
      tools.branches.setPrimary(compute.branchId, server, settings);
      return server;
    }),
  stop: async (compute, server) => tools.branches.withLock(compute.branchId, async () => server.stop()),
});

type OnLine = (line: string) => void;

/**
 * A read replica: a hot standby on its own copy of the branch, which streams from the primary's own socket. That is not the
 * primary's address, so a replica neither wakes its primary nor counts as activity. While the primary is suspended, it
 * retries and continues to serve reads. If its copy can't be used, the branch is copied again.
 */
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

/** A standby connects within half a second. Without progress for this time, it can't follow. Milliseconds. */
const LIMIT = 5_000;
const CHECK_INTERVAL = 250;

const STATE = `select state, sent_lsn from pg_catalog.pg_stat_replication
  where application_name operator(pg_catalog.=) $1`;

/** Waits until the standby receives the write-ahead log (WAL). @returns false if it can't; true also when one of the servers ended before */
async function canStream(
  primary: Postmaster,
  standby: { readonly server: Postmaster; readonly name: string },
  tools: SuperuserTools,
): Promise<boolean> {
  const isOver = () => primary.isStopping || standby.server.isStopping;
  const client = await connectAsSuperuser(tools, primary.address).catch(() => undefined);
  try {
    let sent: string | undefined;
    for (let until = performance.now() + LIMIT; client !== undefined && !isOver();) {
      const { rows } = await client.query<{ state: string; sent_lsn: string | null }>(STATE, [standby.name]);
      if (rows.some(({ state }) => state === 'streaming')) return true;
      if (performance.now() > until) return isOver();
      // Null until the standby has asked for its first position.
      const position = rows[0]?.sent_lsn ?? undefined;
      // It is catching up.
      if (position !== undefined && position !== sent) until = performance.now() + LIMIT;
      sent = position ?? sent;
      await new Promise((resolve) => setTimeout(resolve, CHECK_INTERVAL));
    }
    return true;
  } catch {
    return true; // The primary ended. The next one is asked again.
  } finally {
    await client?.end().catch(() => undefined);
  }
}
