/**
 * A read replica: a hot standby on its own copy of the branch, streaming from the primary's own socket. That is not the
 * primary's address, so a replica neither wakes its primary nor keeps it awake; while the primary sleeps it tries
 * again and again, and goes on reading. Trouble that a new copy or a restart mends is read from its log.
 */
import path from 'node:path';
import { EngineError, type ComputeSpec } from '../../core/computeEngine.ts';
import { REPLICATOR } from '../data/logins.ts';
import type { Postmaster } from '../process/postmaster.ts';
import { catchUpWithStopped, isSeeded, seedFromRunning, seedFromStopped } from './seed.ts';
import { hostAndPort } from '../network/serverAddress.ts';
import type { ServerTools } from '../data/branchData.ts';
import { addressOf } from '../network/serverAddress.ts';
import { launchServer } from '../process/launchServer.ts';
import { connectionsOf, userSettings } from '../config/settings.ts';
import { writePrivateFile } from '../data/privateFiles.ts';

export interface ReadReplicaOptions {
  readonly tools: ServerTools;
  /** The primary of a branch, running or not, if it has one. */
  readonly primaryOf: (branchId: string) => ComputeSpec | undefined;
  /** Asks for a stop and a start of this replica, outside any turn. */
  readonly restart: (reason: string) => void;
}

/** What a standby says when its copy can no longer follow the primary. */
const CANNOT_FOLLOW =
  /requested WAL segment .* has already been removed|database system identifier differs|is ahead of the WAL flush position|primary is behind recovery timeline|forked off current database system timeline/;
/** What it says, over and over, while the primary sleeps. */
const PRIMARY_SLEEPS =
  /could not connect to the primary server|Is the server running locally|waiting for WAL to become available|invalid record length|replication terminated by primary|End of WAL reached|could not send end-of-streaming|the database system is (starting up|shutting down)/;
/** A standby needs room for whatever its primary has (Postgres manual, "Hot Standby", administrator's overview). */
const TOO_LOW = /(\w+) = \d+ is a lower setting than on the primary server, where its value was (\d+)/g;
const NOT_BELOW_PRIMARY = [
  'max_connections',
  'max_prepared_transactions',
  'max_locks_per_transaction',
  'max_worker_processes',
];
const START_ATTEMPTS = 6;

export class ReadReplica {
  readonly #options: ReadReplicaOptions;
  /** Settings that the log of the branch has shown to be too low. */
  readonly #raised = new Map<string, number>();
  #cannotFollow = false;
  #isQuiet = false;

  constructor(options: ReadReplicaOptions) {
    this.#options = options;
  }

  /** @throws {EngineError} with Postgres's own reason */
  async start(compute: ComputeSpec, onLine: (line: string) => void): Promise<Postmaster> {
    const { tools, primaryOf } = this.#options;
    return tools.branches.inTurn(compute.branchId, async () => {
      await tools.branches.ensure(compute.branchId);
      const primary = primaryOf(compute.branchId);
      try {
        if (this.#isUsable(compute)) return await this.#launch(compute, primary, onLine);
      } catch (error) {
        onLine(`Its copy of ${compute.branchId} is of no use: ${String(error)}`);
      }
      return this.#seedAndLaunch(compute, primary, onLine);
    });
  }

  async stop(_compute: ComputeSpec, server: Postmaster): Promise<void> {
    await server.stop();
  }

  #isUsable(compute: ComputeSpec): boolean {
    const { tools } = this.#options;
    if (this.#cannotFollow || !isSeeded(tools, compute.id, compute.branchId)) return false;
    const primaryRuns = tools.branches.server(compute.branchId) !== undefined;
    return primaryRuns || catchUpWithStopped(tools, compute.id, compute.branchId);
  }

  async #seedAndLaunch(
    compute: ComputeSpec,
    primary: ComputeSpec | undefined,
    onLine: (line: string) => void,
  ): Promise<Postmaster> {
    const { tools } = this.#options;
    const replica = { computeId: compute.id, branchId: compute.branchId };
    const server = tools.branches.server(compute.branchId);
    if (server === undefined) {
      await seedFromStopped(tools, replica);
      this.#cannotFollow = false;
      return this.#launch(compute, primary, onLine);
    }
    const client = await seedFromRunning(tools, replica, server);
    try {
      this.#cannotFollow = false;
      return await this.#launch(compute, primary, onLine);
    } finally {
      await client.end();
    }
  }

  async #launch(
    compute: ComputeSpec,
    primary: ComputeSpec | undefined,
    onLine: (line: string) => void,
  ): Promise<Postmaster> {
    const { tools } = this.#options;
    const source = hostAndPort(await addressOf(tools.storage, compute.branchId));
    const passfile = path.join(tools.storage.root, 'replicator.pgpass');
    writePrivateFile(passfile, `*:*:*:${REPLICATOR}:${tools.logins.replicator}\n`);
    const address = await addressOf(tools.storage, compute.id);
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await launchServer(tools, {
          compute,
          dataDir: this.#dataDir(compute),
          address,
          onLine: (line) => this.#read(line, onLine),
          inFile: new Map([
            [
              'primary_conninfo',
              `host=${quoted(source.host)} port=${source.port} user=${REPLICATOR} passfile=${quoted(passfile)}`,
            ],
            // How soon a row shows after the primary woke, at the latest.
            ['wal_retrieve_retry_interval', '500ms'],
          ]),
          onCommandLine: this.#notBelow(compute, primary),
        });
      } catch (error) {
        const raises = error instanceof EngineError && this.#raise(error.message);
        if (!raises || attempt === START_ATTEMPTS) throw error;
      }
    }
  }

  #read(line: string, onLine: (line: string) => void): void {
    // A line that begins with a tab goes on with the one before.
    if (!line.startsWith('\t')) this.#isQuiet = PRIMARY_SLEEPS.test(line);
    if (this.#isQuiet) return;
    onLine(line);
    if (CANNOT_FOLLOW.test(line) && !this.#cannotFollow) {
      this.#cannotFollow = true;
      this.#options.restart('it fell too far behind its primary and is copied again');
    }
    if (line.startsWith('DETAIL:') && this.#raise(line)) {
      this.#options.restart('its primary now has higher settings than it');
    }
  }

  /** Notes every setting that a message says is too low. @returns whether there was one */
  #raise(message: string): boolean {
    const named = [...message.matchAll(TOO_LOW)];
    for (const [, name, value] of named) {
      if (name !== undefined) this.#raised.set(name, Math.max(Number(value), this.#raised.get(name) ?? 0));
    }
    return named.length > 0;
  }

  /** Each setting at the highest of the replica's own, the primary's, and what the log of the branch asked for. */
  #notBelow(replica: ComputeSpec, primary: ComputeSpec | undefined): Map<string, number> {
    const settings = new Map<string, number>();
    const computes = primary ? [replica, primary] : [replica];
    for (const name of NOT_BELOW_PRIMARY) {
      const asked = computes.map((compute) =>
        name === 'max_connections'
          ? connectionsOf(compute)
          : Number(userSettings(compute.pgSettings).get(name) ?? Number.NaN),
      );
      const values = [...asked, this.#raised.get(name) ?? Number.NaN].filter((value) => !Number.isNaN(value));
      if (values.length > 0) settings.set(name, Math.max(...values));
    }
    return settings;
  }

  #dataDir(compute: ComputeSpec): string {
    return path.join(this.#options.tools.storage.replica(compute.id), 'data');
  }
}

/** A value in a libpq connection string. */
const quoted = (value: string) => `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
