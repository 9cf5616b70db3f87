/**
 * Observes what clients do to a branch that was made for it: each statement, and the locks that its transaction holds until its end.
 * Locks are read where they can't be missed: before a client knows that a statement in a
 * transaction has ended, and before a commit releases them. In between they are sampled, for when a lock was taken.
 */
import type net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  relationKey,
  type HeldLock,
  type Rehearsal,
  type RehearsedStatement,
  type Relation,
} from '../../../api/records/rehearsal.ts';
import { fieldsOf } from '../../../base/fieldsOf.ts';
import type { ServerDependencies } from '../branchData/branchData.ts';
import type { Postmaster } from '../server/postmaster.ts';
import { withSuperuser } from '../server/superuser.ts';
import { CommitHold, areCommitsHeld, findCommitting, releaseCommits } from './commitHold.ts';
import { LockReader, type ReadLock } from './lockReader.ts';
import {
  endTransaction,
  newSession,
  NOT_HELD,
  type Changing,
  type ObservedSession,
} from './observedSession.ts';
import { StatementTap, type SeenStatement, type StatementEvents } from './statementTap.ts';

/** Milliseconds between two samples: a tenth of the time for which statements have been running, but no less and no more than these. */
const [LEAST_PAUSE, MOST_PAUSE] = [5, 50];
/** The milliseconds that a transaction takes at least for its changed rows to be counted, because counting reads their table. */
const COUNTED_AFTER = 100;
/** Codes of the errors for a table that a session has locked since, or waits to lock (`lock_not_available`), or has dropped. */
const UNREADABLE_NOW: readonly unknown[] = ['55P03', '42P01'];

type Statement = Changing<RehearsedStatement> & SeenStatement;

export class RehearsalObserver {
  readonly #began = performance.now();
  readonly #reader: LockReader;
  readonly #server: Postmaster;
  readonly #heldServer: Parameters<typeof CommitHold.start>[1];
  readonly #sessions = new Map<number, ObservedSession>();
  readonly #statements: Statement[] = [];
  readonly #locks: HeldLock[] = [];
  #before: readonly Relation[] = [];
  #hold: CommitHold | undefined;
  #sessionCount = 0;
  #transactions = 0;
  #problem: string | undefined;
  #isSampling = false;
  /** Resolves when the transactions of all sessions that have ended so far are known. */
  #left: Promise<unknown> = Promise.resolve();

  private constructor(deps: ServerDependencies, server: Postmaster, dataDir: string) {
    this.#server = server;
    this.#heldServer = { address: server.address, dataDir, reload: () => server.reload() };
    this.#reader = new LockReader(deps, server.address, dataDir);
  }

  /** @throws {EngineError} */
  static async start(
    deps: ServerDependencies,
    server: Postmaster,
    dataDir: string,
  ): Promise<RehearsalObserver> {
    const observer = new RehearsalObserver(deps, server, dataDir);
    const holding = withSuperuser(deps, server.address, async (probe) =>
      CommitHold.start(
        deps,
        observer.#heldServer,
        { asAdmin: async (work) => observer.#reader.asAdmin(work), probe },
        { readLocks: async () => observer.#readHeldCommit(), lost: () => observer.#letGo() },
      ),
    );
    // Both at once, because no client is connected yet.
    const all = [observer.#reader.allRelations(true), holding] as const;
    try {
      [observer.#before, observer.#hold] = await Promise.all(all);
    } catch (error) {
      const [, hold] = await Promise.allSettled(all);
      if (hold.status === 'fulfilled') await hold.value.end();
      // The next attempt must find a server that holds nothing.
      await Promise.all([releaseCommits(observer.#heldServer), observer.#reader.end()]);
      throw error;
    }
    return observer;
  }

  /** Connects a client to the server, both of which are past their first messages. */
  connect(client: net.Socket, server: net.Socket): void {
    const session = this.#trackSession();
    const tap = new StatementTap(session);
    const [toServer, toClient] = [tap.fromClient(), tap.fromServer()];
    server.on('error', () => server.destroy());
    server.once('close', () => toClient.end());
    toClient.once('end', () => client.destroySoon());
    // A connection that is reset has no end.
    client.once('close', () => {
      void session.leaving().then(() => {
        server.destroy();
        session.closed();
      });
    });
    client.pipe(toServer).pipe(server);
    server.pipe(toClient).pipe(client);
  }

  /** Returns what was seen so far. @throws {EngineError} if the server is stopping */
  async read(): Promise<Rehearsal> {
    const [after, areHeld] = await Promise.all([
      this.#reader.allRelations(this.#sessions.size === 0),
      this.#reader.asAdmin(areCommitsHeld),
    ]);
    // This includes the sessions that have left in the meantime.
    await this.#left;
    if (!areHeld) this.#problem ??= 'Commits were not held to the end.';
    const [statements, locks, before, problem] = [this.#statements, this.#locks, this.#before, this.#problem];
    return { statements, locks, before, after, ...(problem !== undefined && { problem }) };
  }

  async end(): Promise<void> {
    this.#isSampling = false;
    await this.#reader.end();
    await this.#hold?.end();
  }

  #now(): number {
    return performance.now() - this.#began;
  }

  #trackSession(): StatementEvents {
    const session = newSession((this.#sessionCount += 1));
    let pid: number | undefined;
    return {
      started: (id) => {
        pid = id;
        this.#sessions.set(id, session);
      },
      begun: (text) => {
        session.transaction ??= this.#transactions += 1;
        session.isRunning = true;
        session.hold = NOT_HELD;
        session.statement = this.#statements.length;
        const { number, transaction } = session;
        const statement = {
          session: number,
          transaction,
          text,
          from: this.#now(),
          milliseconds: 0,
          tags: [],
        };
        this.#statements.push(statement);
        void this.#sample();
        return statement;
      },
      ended: (seen) => {
        session.isRunning = false;
        const statement = seen as Statement;
        statement.milliseconds = this.#now() - session.hold.milliseconds - statement.from;
      },
      ready: async (isInTransaction) => {
        const end = this.#now() - session.hold.counting;
        if (pid === undefined) return;
        session.database = await this.#reader
          .enterDatabaseOf(pid, session.database)
          .catch((error: unknown) => this.#fail(error));
        if (isInTransaction) return this.#readLocks();
        endTransaction(session, end);
      },
      leaving: async () => {
        if (pid === undefined) return;
        const left = this.#noteUncommitted(session, pid);
        this.#left = Promise.all([this.#left, left]);
        await left;
      },
      closed: () => {
        if (pid !== undefined) this.#sessions.delete(pid);
        const { database } = session;
        const isUsed = [...this.#sessions.values()].some((other) => other.database === database);
        if (database !== undefined && !isUsed) void this.#reader.leave(database).catch(() => undefined);
      },
    };
  }

  /** Notes what Postgres rolls back when the session ends now. Does not throw. */
  async #noteUncommitted({ transaction, isRunning }: ObservedSession, pid: number): Promise<void> {
    // A statement that still runs can be the commit.
    if (transaction === undefined || isRunning) return;
    const isWriting = await this.#reader.isWriting(pid).catch((error: unknown) => this.#fail(error));
    if (isWriting !== true) return;
    for (const statement of this.#statements)
      if (statement.transaction === transaction) statement.isUncommitted = true;
  }

  async #readHeldCommit(): Promise<void> {
    const from = this.#now();
    await this.#readLocks();
    const read = this.#now();
    await this.#countChangedRows();
    // A session whose commit doesn't wait isn't delayed: this can be for a commit of another one, or of Postgres itself.
    const pids = await this.#reader.asAdmin(findCommitting).catch((error: unknown) => this.#fail(error));
    const now = this.#now();
    for (const session of (pids ?? []).flatMap((pid) => this.#sessions.get(pid) ?? [])) {
      // This may have begun before the statement, for the commit of another session.
      const began = this.#statements[session.statement]?.from ?? from;
      session.hold = {
        milliseconds: session.hold.milliseconds + now - Math.max(from, began),
        counting: now - Math.max(read, began),
      };
    }
  }

  /**
   * Counts the rows that are changed and not committed. Does not throw. A table that is locked against reads needs no count of its rows.
   * If it was locked only since its locks were read, a commit's own reading sees that.
   */
  async #countChangedRows(): Promise<void> {
    const tables = new Set(this.#before.filter(({ kind }) => kind === 'r').map(relationKey));
    for (const [pid, { held }] of this.#sessions) {
      const all = [...held.values()];
      const unread = new Set(all.filter(({ mode }) => mode === 'AccessExclusiveLock').map(relationKey));
      for (const lock of all) {
        const isOfRows = lock.mode === 'RowExclusiveLock' && lock.index === undefined;
        if (!isOfRows || lock.to - lock.from < COUNTED_AFTER) continue;
        if (!tables.has(relationKey(lock)) || unread.has(relationKey(lock))) continue;
        try {
          const count = await this.#reader.changedRows({ ...lock, pid });
          // None is left when the transaction has just ended.
          lock.rows = Math.max(lock.rows ?? 0, count);
        } catch (error) {
          if (!UNREADABLE_NOW.includes(fieldsOf(error).code)) this.#fail(error);
        }
      }
    }
  }

  /** Reads the locks of all sessions. Does not throw. */
  async #readLocks(): Promise<void> {
    try {
      const before = [...this.#sessions].map(([pid, { held }]) => ({ pid, held }));
      const pids = before.map(({ pid }) => pid);
      const locks = Map.groupBy(await this.#reader.locks(pids), ({ pid }) => pid);
      const now = this.#now();
      for (const { pid, held } of before) {
        const session = this.#sessions.get(pid);
        // A transaction that has ended in the meantime has released the locks that were read.
        if (session?.held === held) this.#note(session, locks.get(pid) ?? [], now);
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  /** @param locks all that the session holds now */
  #note(session: ObservedSession, locks: readonly ReadLock[], now: number): void {
    const before = new Map(session.held);
    session.held.clear();
    for (const { pid: _, ...lock } of locks) {
      const key = JSON.stringify(lock);
      let held = before.get(key);
      if (held === undefined) {
        held = { ...lock, from: now, to: now, statement: session.statement };
        this.#locks.push(held);
      }
      held.to = now;
      session.held.set(key, held);
    }
  }

  #fail(error: unknown): undefined {
    this.#problem ??= `Locks couldn't be read: ${error instanceof Error ? error.message : String(error)}`;
  }

  /** Releases commits, which would wait for ever without the standby. */
  #letGo(): void {
    if (this.#server.isStopping) return;
    this.#problem ??= 'Commits were not held to the end, because the connection of the observer was lost.';
    releaseCommits(this.#heldServer).catch((error: unknown) => this.#fail(error));
  }

  /** Samples locks while a statement runs. */
  async #sample(): Promise<void> {
    if (this.#isSampling) return;
    this.#isSampling = true;
    const isRunning = () => [...this.#sessions.values()].some((session) => session.isRunning);
    const isUsed = (database: string, pid: number) =>
      [...this.#sessions].some(([id, other]) => id !== pid && other.database === database);
    const from = performance.now();
    while (this.#isSampling && isRunning()) {
      await this.#reader.makeWay(isUsed).catch((error: unknown) => this.#fail(error));
      await this.#readLocks();
      const pause = (performance.now() - from) / 10;
      await sleep(Math.min(Math.max(pause, LEAST_PAUSE), MOST_PAUSE));
    }
    this.#isSampling = false;
  }
}
