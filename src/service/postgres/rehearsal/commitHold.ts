/**
 * Holds the commits of a server that wait for the disk until the locks of their transactions are read. Postgres itself waits: a transaction
 * keeps its locks until a synchronous standby has confirmed its commit (`RecordTransactionCommit` in src/backend/access/transam/xact.c), and this
 * is that standby. It receives the log and stores nothing. The messages are those of the manual, "Streaming Replication Protocol".
 */
import { appendFile } from 'node:fs/promises';
import path from 'node:path';
import type { ClientConfig } from 'pg';
import type Client from 'pg/lib/client.js';
import { createPgClient } from '../../../base/sql/pgClient.ts';
import { EngineError } from '../../core/computeEngine.ts';
import { parseLsn } from '../../core/lsn.ts';
import { REHEARSAL_STANDBY, REPLICATOR } from '../../core/systemNames.ts';
import type { ServerDependencies } from '../branchData/branchData.ts';
import type { ServerAddress } from '../server/serverAddress.ts';
import { CommitFinder } from './commitFinder.ts';

/** Types of messages, and the lengths of their heads. */
const [LOG, KEEPALIVE, CONFIRMATION] = [0x77, 0x6b, 0x72];
const LOG_HEAD = 25;
const ASKS_FOR_REPLY = 17;
const CONFIRMATION_LENGTH = 34;
/** Milliseconds between two questions whether the server has accepted the standby. */
const PAUSE = 5;

interface CopyStream {
  on(event: 'copyData', listener: (message: { readonly chunk: Buffer }) => void): void;
  once(event: 'replicationStart', listener: () => void): void;
  sendCopyFromChunk(chunk: Buffer): void;
}

interface HoldEvents {
  /** Called when a transaction commits, which keeps its locks until the promise resolves. Must not throw. */
  readLocks(): Promise<void>;
  /** Called when the connection has ended. If the server runs, its commits wait until they are let go. */
  lost(): void;
}

type AsAdmin = <T>(work: (admin: Client) => Promise<T>) => Promise<T>;

interface HeldServer {
  readonly address: ServerAddress;
  readonly dataDir: string;
  /** Makes the server read its configuration again, also while it recovers from a crash and accepts no connections. */
  reload(): void;
}

/** The standby for which a server's commits wait. */
export class CommitHold {
  readonly #client: Client;
  readonly #events: HoldEvents;
  #received = 0n;
  readonly #commits = new CommitFinder();
  /** Whether a transaction has committed since locks were read. */
  #hasCommit = false;
  #confirmed = 0n;
  /** Until a commit has been seen to wait, none is confirmed. */
  #isConfirming = false;
  #isReading = false;
  #isLost = false;

  private constructor(client: Client, events: HoldEvents) {
    this.#client = client;
    this.#events = events;
  }

  /**
   * Makes commits wait, and resolves when they do. After a failure, no commit waits.
   * @param asAdmin does work in a superuser's session
   * @param probe another session, whose commit is the first to wait
   * @throws {Error} also if the connection is lost before
   */
  static async start(
    { logins }: Pick<ServerDependencies, 'logins'>,
    server: HeldServer,
    { asAdmin, probe }: { readonly asAdmin: AsAdmin; readonly probe: Client },
    events: HoldEvents,
  ): Promise<CommitHold> {
    const config: ClientConfig & { readonly replication: string } = {
      ...server.address,
      user: REPLICATOR,
      password: logins.replicator,
      application_name: REHEARSAL_STANDBY,
      ssl: false,
      replication: 'true',
    };
    const client = createPgClient(config);
    const hold = new CommitHold(client, events);
    let isHeld = false;
    const lost = new Promise<void>((resolve) => {
      client.once('end', () => {
        hold.#isLost = true;
        if (isHeld) events.lost();
        resolve();
      });
    });
    try {
      await client.connect();
      await hold.#stream();
      await setSynchronousStandby(REHEARSAL_STANDBY, server);
      const commit = await hold.#untilHeld(asAdmin, probe);
      // No client is observed yet, whose locks these commits could have.
      hold.#hasCommit = false;
      hold.#isConfirming = true;
      void hold.#confirm();
      await Promise.race([commit.ended, lost]);
      // The connection may have ended while the answer that a commit waits was on its way.
      hold.#requireConnected();
      isHeld = true;
      return hold;
    } catch (error) {
      // If the client stayed connected, Postgres would ask it as the standby, instead of the one of the next attempt.
      await client.end().catch(() => undefined);
      await releaseCommits(server);
      throw error;
    }
  }

  /** Ends the connection to a server that has ended. */
  async end(): Promise<void> {
    await this.#client.end();
  }

  async #stream(): Promise<void> {
    const { rows } = await this.#client.query<{ xlogpos: string }>('IDENTIFY_SYSTEM');
    const { connection } = this.#client as unknown as { readonly connection: CopyStream };
    connection.on('copyData', ({ chunk }) => this.#receive(chunk));
    const started = new Promise<void>((resolve) => connection.once('replicationStart', resolve));
    const position = rows[0]?.xlogpos ?? '0/0';
    // The query lasts until the connection ends.
    const ended = this.#client.query(`START_REPLICATION PHYSICAL ${position}`);
    await Promise.race([started, ended]);
    // Only a standby that has confirmed something is synchronous.
    this.#confirmed = BigInt(parseLsn(position) ?? 0);
    this.#send(this.#confirmed);
  }

  /** @returns the commit of the probe that waits */
  async #untilHeld(asAdmin: AsAdmin, probe: Client): Promise<{ readonly ended: Promise<unknown> }> {
    while (!(await asAdmin(areCommitsHeld))) await this.#pause();
    for (;;) {
      const commit = await this.#findWaitingCommit(asAdmin, probe);
      if (commit !== undefined) return commit;
      await this.#pause();
    }
  }

  /**
   * Commits once. Postgres accepts the standby before commits wait for it: for that, its checkpointer must have read the configuration,
   * too.
   * @returns the commit once any waits, in an object because a function can't return a promise that isn't over; undefined if it has ended
   */
  async #findWaitingCommit(
    asAdmin: AsAdmin,
    probe: Client,
  ): Promise<{ readonly ended: Promise<unknown> } | undefined> {
    let isOver = false;
    const ended = probe.query(PROBE).finally(() => (isOver = true));
    ended.catch(() => undefined);
    for (;;) {
      if ((await asAdmin(findCommitting)).length > 0) return { ended };
      if (isOver) break;
      await this.#pause();
    }
    await ended;
    return undefined;
  }

  async #pause(): Promise<void> {
    this.#requireConnected();
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }

  #requireConnected(): void {
    if (this.#isLost) throw new EngineError('The connection that holds commits was lost');
  }

  #receive(chunk: Buffer): void {
    const [type] = chunk;
    if (type === LOG) {
      const position = chunk.readBigUInt64BE(1);
      this.#received = position + BigInt(chunk.length - LOG_HEAD);
      if (this.#commits.read(Number(position), chunk.subarray(LOG_HEAD))) this.#hasCommit = true;
    } else if (type === KEEPALIVE) {
      this.#received = chunk.readBigUInt64BE(1);
      // While locks are read, this says that the standby is still there.
      if (chunk[ASKS_FOR_REPLY] === 1) this.#send(this.#confirmed);
    }
    void this.#confirm();
  }

  /** Confirms commits when their locks are read. Those that arrive in the meantime are confirmed together. */
  async #confirm(): Promise<void> {
    if (this.#isReading || !this.#isConfirming) return;
    this.#isReading = true;
    while (this.#received > this.#confirmed) {
      const upTo = this.#received;
      if (this.#hasCommit) {
        this.#hasCommit = false;
        await this.#events.readLocks();
      }
      this.#confirmed = upTo;
      this.#send(upTo);
    }
    this.#isReading = false;
  }

  /** Reports to the server that the log up to here was written, flushed and applied. */
  #send(position: bigint): void {
    const message = Buffer.alloc(CONFIRMATION_LENGTH);
    message.writeUInt8(CONFIRMATION);
    for (const at of [1, 9, 17]) message.writeBigUInt64BE(position, at);
    const { connection } = this.#client as unknown as { readonly connection: CopyStream };
    connection.sendCopyFromChunk(message);
  }
}

/** Lets commits go without the standby. */
export const releaseCommits = async (server: Omit<HeldServer, 'address'>): Promise<void> =>
  setSynchronousStandby('', server);

/** Makes commits wait for a standby, until the next start of the server, which writes the file again. */
async function setSynchronousStandby(
  standby: string,
  { dataDir, ...server }: Omit<HeldServer, 'address'>,
): Promise<void> {
  await appendFile(path.join(dataDir, 'postgresql.conf'), `synchronous_standby_names = '${standby}'\n`);
  server.reload();
}

/** Commits, so that this can be seen to wait. */
const PROBE = `begin; set local synchronous_commit to on;
  select pg_catalog.pg_logical_emit_message(true, 'rehearsal', ''); commit`;

/** Returns the processes whose commits wait for a standby. */
export async function findCommitting(admin: Client): Promise<number[]> {
  const { rows } = await admin.query<{ pid: number }>(
    `select pid from pg_catalog.pg_stat_activity where wait_event operator(pg_catalog.=) 'SyncRep'`,
  );
  return rows.map(({ pid }) => pid);
}

/** Whether Postgres has accepted the standby. */
export async function areCommitsHeld(admin: Client): Promise<boolean> {
  const { rows } = await admin.query(
    `select from pg_catalog.pg_stat_replication where application_name operator(pg_catalog.=) $1
    and state operator(pg_catalog.=) 'streaming' and sync_state operator(pg_catalog.=) 'sync'`,
    [REHEARSAL_STANDBY],
  );
  return rows.length > 0;
}
