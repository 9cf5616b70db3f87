/**
 * Observes a migration through a second connection, for a service that doesn't see statements. It reads again and again which
 * statements run and which locks are held, and can miss those that are shorter than the time between two samples. Postgres counts
 * the rows that a session has written only when the session ends, so the migration must leave none open.
 */
import type Client from 'pg/lib/client.js';
import type {
  HeldLock,
  LockMode,
  Rehearsal,
  RehearsedStatement,
  Relation,
} from '../api/records/rehearsal.ts';
import { limitConcurrency } from '../base/limitConcurrency.ts';
import { createPgClient } from '../base/sql/pgClient.ts';
import { databaseOfCopy, type BranchCopy } from './branchCopy.ts';
import { locksQuery, EXCLUSIVE_SESSIONS_QUERY, relationsQuery, WRITES } from './catalogQueries.ts';

type Changing<T> = { -readonly [Key in keyof T]: T[Key] };

/** A row about another session. All times are milliseconds since 1970 by the clock of the server. */
interface Activity {
  readonly now: number;
  readonly pid: number;
  readonly text: string;
  /** When the session's last statement began; null before the first one. */
  readonly began: number | null;
  /** When the session's last statement ended; null while it runs. */
  readonly ended: number | null;
  readonly transaction: number | null;
}

interface SampledLock {
  readonly pid: number;
  readonly mode: LockMode;
  readonly id: number;
  readonly table: string;
  readonly index: string | null;
}

const epochMilliseconds = (column: string): string => `(extract(epoch from ${column}) * 1000)::float8`;
const OTHERS = `from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
  and backend_type = 'client backend' and usename = current_user`;
/** Reads locks and statements in one round trip. Without the pause, a server nearby would be busy with samples only. */
const SAMPLE = `
  select pg_sleep(0.002);
  select ${epochMilliseconds('clock_timestamp()')} as now;
  select pid, query as text, ${epochMilliseconds('query_start')} as began, ${epochMilliseconds('xact_start')} as transaction,
    case when state <> 'active' then ${epochMilliseconds('state_change')} end as ended ${OTHERS};
  ${locksQuery(`array(select pid ${OTHERS})`)};
  ${EXCLUSIVE_SESSIONS_QUERY}`;
const RELATIONS = relationsQuery(`pg_relation_size(c.oid)::float8 as bytes, ${WRITES}`);

/** Milliseconds until a session that the migration has left open counts as a problem. */
const LONGEST_END = 5000;

interface Session {
  readonly number: number;
  readonly began: number;
  /** The index of the session's last statement. */
  readonly statement: number;
}

/** Samples what the sessions of a migration do on a copy. */
export class LockSampler {
  readonly #copy: BranchCopy;
  readonly #database: string;
  readonly #statements: Changing<RehearsedStatement>[] = [];
  readonly #locks: Changing<HeldLock>[] = [];
  readonly #sessions = new Map<number, Session>();
  readonly #transactions = new Map<string, number>();
  #client: Client;
  /** A sample may replace the client, so that nothing else may use it in the meantime. */
  readonly #oneAtATime = limitConcurrency(1);
  /** The locks of the last sample, by their session, relation and mode. */
  #held = new Map<string, Changing<HeldLock>>();
  #before: readonly Relation[] = [];
  /** The times of the first and of the last sample. */
  #start: number | undefined;
  #now = 0;
  /** The longest time between two samples. */
  #longestGap = 0;
  /** The number of sessions in the last sample. */
  #others = 0;
  #problem: string | undefined;
  #isEnded = false;
  #sampling: Promise<void> = Promise.resolve();

  private constructor(client: Client, copy: BranchCopy) {
    this.#client = client;
    this.#copy = copy;
    this.#database = databaseOfCopy(copy);
  }

  /** Begins to sample. @throws {Error} if there is no connection */
  static async start(copy: BranchCopy): Promise<LockSampler> {
    const sampler = new LockSampler(await connect(copy), copy);
    sampler.#before = await sampler.#readRelations();
    await sampler.#sample();
    sampler.#sampling = sampler.#sampleUntilEnd();
    return sampler;
  }

  /** Waits until all sessions of the migration have ended, `LONGEST_END` at most, and returns what was seen. */
  async read(): Promise<Rehearsal> {
    // A session may have begun after the last sample, which can be old if the sampler has made way since.
    await this.#sample();
    const from = this.#now;
    while (this.#others > 0 && this.#now - from < LONGEST_END) await this.#sample();
    if (this.#others > 0) this.#problem ??= 'The migration has left a session open.';
    const after = await this.#readRelations();
    const [statements, locks] = [[...this.#statements], [...this.#locks]];
    const sampled = this.#longestGap;
    const problem = this.#problem;
    return {
      statements,
      locks,
      before: this.#before,
      after,
      sampled,
      ...(problem !== undefined && { problem }),
    };
  }

  /** Ends the sampling and its connection. */
  async end(): Promise<void> {
    this.#isEnded = true;
    await this.#sampling;
    await this.#client.end().catch(() => undefined);
  }

  async #sampleUntilEnd(): Promise<void> {
    while (!this.#isEnded && this.#problem === undefined) {
      try {
        await this.#sample();
      } catch (error) {
        this.#problem = `Locks could not be sampled: ${error instanceof Error ? error.message : String(error)}.`;
      }
    }
  }

  async #readRelations(): Promise<Relation[]> {
    const { rows } = await this.#oneAtATime(async () =>
      this.#client.query<Omit<Relation, 'database'>>(RELATIONS),
    );
    return rows.map((row) => ({ ...row, database: this.#database }));
  }

  async #sample(): Promise<void> {
    await this.#oneAtATime(async () => this.#takeSample());
  }

  async #takeSample(): Promise<void> {
    const results: unknown = await this.#client.query(SAMPLE);
    const [, clock, activity, locks, exclusive] = results as [
      unknown,
      Rows<Activity>,
      Rows<Activity>,
      Rows<SampledLock>,
      Rows<Pick<Activity, 'pid'>>,
    ];
    const now = clock.rows[0]?.now ?? 0;
    this.#start ??= now;
    const before = this.#now === 0 ? now : this.#now;
    this.#longestGap = Math.max(this.#longestGap, now - before);
    this.#now = now;
    this.#others = activity.rows.length;
    for (const each of activity.rows) this.#addStatement(each);
    this.#addLocks(locks.rows, before);
    const isExclusive = (pid: number) => exclusive.rows.some((other) => other.pid === pid);
    const hasOthers = activity.rows.some(({ pid }) => !isExclusive(pid));
    if (exclusive.rows.length > 0 && !hasOthers) await this.#makeWay();
  }

  /** Leaves the database to a session that waits to be alone there. The new connection waits until that session has ended. */
  async #makeWay(): Promise<void> {
    await this.#client.end();
    this.#client = await connect(this.#copy);
  }

  #addStatement({ pid, text, began, ended, transaction }: Activity): void {
    if (began === null) return;
    const start = this.#start ?? began;
    let session = this.#sessions.get(pid);
    if (session?.began !== began) {
      const number = session?.number ?? this.#sessions.size + 1;
      session = { number, began, statement: this.#statements.length };
      this.#sessions.set(pid, session);
      // If its transaction has ended by now, the statement counts as a separate transaction.
      const key = `${pid} ${transaction ?? `at ${began}`}`;
      const known = this.#transactions.get(key) ?? this.#transactions.size + 1;
      this.#transactions.set(key, known);
      const from = began - start;
      this.#statements.push({ session: number, transaction: known, text, from, milliseconds: 0, tags: [] });
    }
    const statement = this.#statements[session.statement];
    if (statement !== undefined) statement.milliseconds = Math.max(0, (ended ?? this.#now) - began);
  }

  /** @param before the time of the last sample. A new lock was taken after it, and after its statement began */
  #addLocks(locks: readonly SampledLock[], before: number): void {
    const start = this.#start ?? before;
    const held = new Map<string, Changing<HeldLock>>();
    for (const { pid, index, ...lock } of locks) {
      const session = this.#sessions.get(pid);
      if (session === undefined) continue;
      const key = JSON.stringify([pid, lock.id, index, lock.mode]);
      const known = this.#held.get(key);
      const from = Math.max(before, session.began) - start;
      const { statement } = session;
      const named = { ...lock, database: this.#database, ...(index !== null && { index }) };
      const seen = known ?? { ...named, from, to: from, statement };
      if (known === undefined) this.#locks.push(seen);
      held.set(key, seen);
    }
    for (const lock of [...this.#held.values(), ...held.values()]) lock.to = this.#now - start;
    this.#held = held;
  }
}

async function connect({ url }: BranchCopy): Promise<Client> {
  const client = createPgClient({ connectionString: url, options: '-c lock_timeout=5000' });
  await client.connect();
  return client;
}

interface Rows<Row> {
  readonly rows: readonly Row[];
}
