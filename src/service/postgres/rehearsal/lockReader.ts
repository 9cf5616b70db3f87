/** Reads locks and relations of a server as a superuser, in the databases in which they are. */
import { statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { QueryResultRow } from 'pg';
import type Client from 'pg/lib/client.js';
import { limitConcurrency } from '../../../base/limitConcurrency.ts';
import {
  locksQuery,
  EXCLUSIVE_SESSIONS_QUERY,
  relationsQuery,
  WRITES,
} from '../../../rehearsal/catalogQueries.ts';
import type { LockMode, Relation } from '../../../api/records/rehearsal.ts';
import type { ServerAddress } from '../server/serverAddress.ts';
import { listConnectableDatabases, connectAsSuperuser, type SuperuserLogin } from '../server/superuser.ts';
import { isSystemDatabase } from '../../core/systemNames.ts';

/** A lock as it was read. */
export interface ReadLock {
  readonly pid: number;
  readonly database: string;
  readonly id: number;
  readonly table: string;
  readonly index?: string;
  readonly mode: LockMode;
}

/** A connection of the rehearsal's observer, for one query at a time. */
interface OwnSession {
  query<Row extends QueryResultRow>(this: void, sql: string, values?: unknown[]): Promise<Row[]>;
  /** Ends the session after the queries that were sent before. */
  end(this: void): Promise<void>;
}

type ReadRelation = Omit<Relation, 'bytes'> & { readonly path: string | null };

const LOCKS = locksQuery('$1');
const RELATIONS = relationsQuery(`pg_catalog.pg_relation_filepath(c.oid) as path, ${WRITES}`);

/** How many databases are read at a time. Connecting to one takes longer than reading it. */
const DATABASES_AT_A_TIME = 4;
/** The most milliseconds until the sessions that clients have left must have ended, and between two looks. */
const [LONGEST_END, BETWEEN_LOOKS] = [1000, 2];

/** @param table the table's name with its schema, quoted if necessary */
const changedRowsOf = (table: string, pid: number): string => `
select pg_catalog.count(*)::pg_catalog.float8 as count from only ${table} where xmax operator(pg_catalog.=) any(array(
  select transactionid from pg_catalog.pg_locks where pid operator(pg_catalog.=) ${pid}
  and locktype operator(pg_catalog.=) 'transactionid' and granted and mode operator(pg_catalog.=) 'ExclusiveLock'))`;

/** Reads the locks and relations of one server. */
export class LockReader {
  readonly #login: SuperuserLogin;
  readonly #address: ServerAddress;
  readonly #dataDir: string;
  readonly #sessions = new Map<string, OwnSession>();
  /** Connections that aren't open yet, by database. No other work waits for them, because they may wait for a transaction. */
  readonly #entering = new Map<string, Promise<void>>();
  readonly #oneAtATime = limitConcurrency(1);
  /** The session in the service's own database, which stays open because a connection takes longer than a query. */
  #admin: Client | undefined;

  constructor(login: SuperuserLogin, address: ServerAddress, dataDir: string) {
    this.#login = login;
    this.#address = address;
    this.#dataDir = dataDir;
  }

  /**
   * Connects to the session's database now, so that its locks can be read later over that connection. Connecting only then could
   * deadlock: the connection might wait for a transaction whose commit waits for the locks to be read.
   * @param knownDatabase the database's name, if it is known
   * @returns the database's name; undefined if the session has ended
   */
  async enterDatabaseOf(pid: number, knownDatabase: string | undefined): Promise<string | undefined> {
    const sql = 'select datname from pg_catalog.pg_stat_activity where pid operator(pg_catalog.=) $1';
    const ask = async (admin: Client) =>
      (await admin.query<{ datname: string }>(sql, [pid])).rows[0]?.datname;
    const database = knownDatabase ?? (await this.asAdmin(ask));
    if (database !== undefined && !this.#sessions.has(database)) {
      const entering = this.#entering.get(database) ?? this.#enter(database);
      this.#entering.set(database, entering);
      await entering;
    }
    return database;
  }

  async #enter(database: string): Promise<void> {
    try {
      this.#sessions.set(database, await this.#connect(database));
    } finally {
      this.#entering.delete(database);
    }
  }

  /** Leaves each database for a session that needs to be alone there. @param isUsed whether another session is there anyway */
  async makeWay(isUsed: (database: string, pid: number) => boolean): Promise<void> {
    for (const [database, { query }] of this.#sessions) {
      const waiting = await query<Pick<ReadLock, 'pid'>>(EXCLUSIVE_SESSIONS_QUERY);
      if (waiting.some(({ pid }) => !isUsed(database, pid))) await this.leave(database);
    }
  }

  /** Leaves a database, which could not be dropped or copied otherwise. */
  async leave(database: string): Promise<void> {
    await this.#entering.get(database)?.catch(() => undefined);
    const session = this.#sessions.get(database);
    this.#sessions.delete(database);
    await session?.end();
  }

  /**
   * Counts the rows of a table that a transaction has changed, deleted or locked, and that were there before: others wait for
   * these rows. Postgres notes the transaction in their former versions. Fails if the transaction or another has locked the table,
   * or waits to lock it, because a wait could last until the transaction ends.
   */
  async changedRows({ pid, database, table }: Pick<ReadLock, 'pid' | 'database' | 'table'>): Promise<number> {
    // Both statements are in one query and so in one transaction, which keeps the lock until the rows are counted.
    const sql = `lock table only ${table} in access share mode nowait; ${changedRowsOf(table, pid)}`;
    const [row] = await this.#withSession(database, async ({ query }) => query<{ count: number }>(sql));
    return row?.count ?? 0;
  }

  /** Returns whether the transaction of a session has an id, which Postgres gives to those that write or lock rows. */
  async isWriting(pid: number): Promise<boolean> {
    const sql = `select from pg_catalog.pg_stat_activity
      where pid operator(pg_catalog.=) $1 and backend_xid is not null`;
    return this.asAdmin(async (admin) => (await admin.query(sql, [pid])).rows.length > 0);
  }

  /** Returns the locks of these processes in all databases that were entered. */
  async locks(pids: readonly number[]): Promise<ReadLock[]> {
    const all: ReadLock[] = [];
    for (const [database, { query }] of this.#sessions) {
      const rows = await query<ReadLock & { readonly index: string | null }>(LOCKS, [pids]);
      all.push(
        ...rows.map(({ index, ...lock }) => ({ ...lock, database, ...(index !== null && { index }) })),
      );
    }
    return all;
  }

  async relations(database: string): Promise<Relation[]> {
    const rows = await this.#withSession(database, async ({ query }) => query<ReadRelation>(RELATIONS));
    return rows.map(({ path: file, ...row }) => ({
      ...row,
      database,
      bytes: file === null ? 0 : this.#sizeOf(file),
    }));
  }

  /**
   * Returns the relations in all databases of users.
   * @param haveLeft whether no client is connected. If so, this waits until the servers of their sessions have ended: Postgres counts
   * the rows that a session has written by its end. Otherwise, `writes` is missing
   */
  async allRelations(haveLeft: boolean): Promise<Relation[]> {
    const areWritesCounted = haveLeft && (await this.#haveSessionsEnded());
    const databases = (await this.asAdmin(listConnectableDatabases)).filter(
      ({ name }) => !isSystemDatabase(name),
    );
    const atATime = limitConcurrency(DATABASES_AT_A_TIME);
    const reading = databases.map(async ({ name }) => atATime(async () => this.relations(name)));
    const all = (await Promise.all(reading)).flat();
    return areWritesCounted ? all : all.map((each) => ({ ...each, writes: undefined }));
  }

  /** @returns false if a session is left after a while */
  async #haveSessionsEnded(): Promise<boolean> {
    const sql = `select from pg_catalog.pg_stat_activity where backend_type operator(pg_catalog.=) 'client backend'
      and usename operator(pg_catalog.<>) current_user`;
    const deadline = performance.now() + LONGEST_END;
    while (await this.asAdmin(async (admin) => (await admin.query(sql)).rows.length > 0)) {
      if (performance.now() > deadline) return false;
      await sleep(BETWEEN_LOOKS);
    }
    return true;
  }

  /** Does work in the service's own database, one at a time. */
  async asAdmin<T>(work: (admin: Client) => Promise<T>): Promise<T> {
    return this.#oneAtATime(async () => work((this.#admin ??= await this.#connectAdmin())));
  }

  /** Opens the session. A server that recovers from a crash ends all sessions, and then the next work opens another one. */
  async #connectAdmin(): Promise<Client> {
    const admin = await connectAsSuperuser(this.#login, this.#address);
    admin.once('end', () => (this.#admin = undefined));
    return admin;
  }

  async end(): Promise<void> {
    await this.#admin?.end();
    for (const database of this.#sessions.keys()) await this.leave(database);
  }

  /**
   * Returns the size of a relation. Postgres itself would lock the relation to return its size. Each gigabyte is in a separate
   * file.
   */
  #sizeOf(file: string): number {
    let size = 0;
    for (let part = 0; ; part += 1) {
      const name = part === 0 ? file : `${file}.${part}`;
      const found = statSync(path.join(this.#dataDir, name), { throwIfNoEntry: false });
      if (found === undefined) return size;
      size += found.size;
    }
  }

  async #withSession<T>(database: string, work: (session: OwnSession) => Promise<T>): Promise<T> {
    const entered = this.#sessions.get(database);
    if (entered !== undefined) return work(entered);
    const session = await this.#connect(database);
    try {
      return await work(session);
    } finally {
      await session.end();
    }
  }

  async #connect(database: string): Promise<OwnSession> {
    const client = await connectAsSuperuser(this.#login, this.#address, database);
    const oneAtATime = limitConcurrency(1);
    return {
      query: async (sql, values) =>
        oneAtATime(async () => [await client.query(sql, values)].flat().at(-1)?.rows ?? []),
      end: async () => oneAtATime(async () => client.end()),
    };
  }
}
