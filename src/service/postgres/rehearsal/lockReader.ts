/** Reads locks and relations of a server as a superuser, in the databases in which they are. */
import { statSync } from 'node:fs';
import path from 'node:path';
import type { QueryResultRow } from 'pg';
import type Client from 'pg/lib/client.js';
import { limitConcurrency } from '../../../base/limitConcurrency.ts';
import type { LockMode, Relation } from '../../../api/records/rehearsal.ts';
import type { ServerAddress } from '../server/serverAddress.ts';
import {
  asSuperuser,
  connectableDatabases,
  connectAsSuperuser,
  type SuperuserLogin,
} from '../server/superuser.ts';
import { isSystemDatabase, SUPERUSER } from '../../core/systemNames.ts';

export interface ReadLock {
  readonly pid: number;
  readonly database: string;
  readonly id: number;
  readonly table: string;
  readonly index?: string;
  readonly mode: LockMode;
}

/** A connection of the observer, for one query at a time. */
interface OwnSession {
  query<Row extends QueryResultRow>(this: void, sql: string, values?: unknown[]): Promise<Row[]>;
  /** After the queries that were sent before. */
  end(this: void): Promise<void>;
}

type ReadRelation = Omit<Relation, 'bytes'> & { readonly path: string | null };

/** By the schema: what a new branch begins with has ids as low as Postgres's own, because it is made without a server. */
const OF_USERS = `n.nspname operator(pg_catalog.<>) all ('{pg_catalog,information_schema,pg_toast}'::pg_catalog.name[])
and not pg_catalog.starts_with(n.nspname, 'pg_temp')`;

/**
 * What other sessions can't see yet, such as a table that the transaction has created, isn't in the result: no other session can
 * wait for it. A locked index stops queries of its table, because planning them locks it.
 */
const LOCKS = `
select l.pid, l.mode, coalesce(i.indrelid, c.oid)::pg_catalog.int8::pg_catalog.float8 as id,
  pg_catalog.format('%I.%I', n.nspname, coalesce(t.relname, c.relname)) as table,
  case when i.indrelid is not null then c.relname end as index
from pg_catalog.pg_locks l
join pg_catalog.pg_class c on c.oid operator(pg_catalog.=) l.relation
join pg_catalog.pg_namespace n on n.oid operator(pg_catalog.=) c.relnamespace
left join pg_catalog.pg_index i on i.indexrelid operator(pg_catalog.=) c.oid
left join pg_catalog.pg_class t on t.oid operator(pg_catalog.=) i.indrelid
where l.locktype operator(pg_catalog.=) 'relation' and l.granted
and l.pid operator(pg_catalog.=) any($1) and ${OF_USERS}
and l.database operator(pg_catalog.=)
  (select oid from pg_catalog.pg_database where datname operator(pg_catalog.=) pg_catalog.current_database())`;

const RELATIONS = `
select c.oid::pg_catalog.int8::pg_catalog.float8 as id, c.relkind as kind,
  pg_catalog.format('%I.%I', n.nspname, c.relname) as name,
  coalesce(pg_catalog.pg_relation_filenode(c.oid), 0)::pg_catalog.int8::pg_catalog.float8 as file,
  pg_catalog.pg_relation_filepath(c.oid) as path,
  coalesce((
    select pg_catalog.jsonb_object_agg(a.attnum, pg_catalog.jsonb_build_object(
      'name', a.attname, 'type', pg_catalog.format_type(a.atttypid, a.atttypmod),
      'isChecked', exists (
        select from pg_catalog.pg_constraint d where d.contypid operator(pg_catalog.=) a.atttypid)))
    from pg_catalog.pg_attribute a
    where a.attrelid operator(pg_catalog.=) c.oid and a.attnum operator(pg_catalog.>) 0 and not a.attisdropped
    and a.attgenerated operator(pg_catalog.=) ''
  ), '{}') as columns,
  coalesce((
    select pg_catalog.jsonb_object_agg(o.conname, pg_catalog.jsonb_build_object(
      'kind', o.contype, 'isValidated', o.convalidated, 'columns', coalesce(o.conkey, '{}'),
      'refersTo', o.confrelid::pg_catalog.int8))
    from pg_catalog.pg_constraint o where o.conrelid operator(pg_catalog.=) c.oid
  ), '{}') as constraints
from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid operator(pg_catalog.=) c.relnamespace
where c.relkind operator(pg_catalog.=) any('{r,p,m,i,S}') and ${OF_USERS}`;

/** @param table with its schema, quoted if necessary */
const changedRowsOf = (table: string, pid: number): string => `
select pg_catalog.count(*)::pg_catalog.float8 as count from only ${table} where xmax operator(pg_catalog.=) any(array(
  select transactionid from pg_catalog.pg_locks where pid operator(pg_catalog.=) ${pid}
  and locktype operator(pg_catalog.=) 'transactionid' and granted and mode operator(pg_catalog.=) 'ExclusiveLock'))`;

export class LockReader {
  readonly #login: SuperuserLogin;
  readonly #address: ServerAddress;
  readonly #dataDir: string;
  readonly #sessions = new Map<string, OwnSession>();

  constructor(login: SuperuserLogin, address: ServerAddress, dataDir: string) {
    this.#login = login;
    this.#address = address;
    this.#dataDir = dataDir;
  }

  /**
   * Enters the database of a session, so that its locks can be read later without a new connection: that could wait for the
   * transaction whose commit waits for the locks to be read.
   * @returns its name; undefined if the session has ended
   */
  async enterDatabaseOf(pid: number): Promise<string | undefined> {
    const sql = 'select datname from pg_catalog.pg_stat_activity where pid operator(pg_catalog.=) $1';
    const [row] = await this.#with(SUPERUSER, async ({ query }) => query<{ datname: string }>(sql, [pid]));
    const database = row?.datname;
    if (database !== undefined && !this.#sessions.has(database))
      this.#sessions.set(database, await this.#connect(database));
    return database;
  }

  /** Leaves a database, which could not be dropped or copied otherwise. */
  async leave(database: string): Promise<void> {
    const session = this.#sessions.get(database);
    this.#sessions.delete(database);
    await session?.end();
  }

  /**
   * Counts the rows of a table that a transaction has changed, deleted or locked, and that were there before: others wait for these
   * rows. Postgres notes the transaction in their former versions. Fails, and doesn't wait, if the transaction or another has locked
   * the table, or waits to lock it: that could wait for the transaction to end.
   */
  async changedRows({ pid, database, table }: Pick<ReadLock, 'pid' | 'database' | 'table'>): Promise<number> {
    // Several statements of one query are one transaction.
    const sql = `lock table only ${table} in access share mode nowait; ${changedRowsOf(table, pid)}`;
    const [row] = await this.#with(database, async ({ query }) => query<{ count: number }>(sql));
    return row?.count ?? 0;
  }

  /** In all databases that it has entered. */
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
    const rows = await this.#with(database, async ({ query }) => query<ReadRelation>(RELATIONS));
    return rows.map(({ path: file, ...row }) => ({
      ...row,
      database,
      bytes: file === null ? 0 : this.#sizeOf(file),
    }));
  }

  /** Of all databases of users. */
  async allRelations(): Promise<Relation[]> {
    const databases = await this.asAdmin(connectableDatabases);
    const all: Relation[] = [];
    for (const { name } of databases) if (!isSystemDatabase(name)) all.push(...(await this.relations(name)));
    return all;
  }

  /** In the service's own database. */
  async asAdmin<T>(work: (client: Client) => Promise<T>): Promise<T> {
    return asSuperuser(this.#login, this.#address, work);
  }

  async end(): Promise<void> {
    for (const database of this.#sessions.keys()) await this.leave(database);
  }

  /** Postgres itself would lock the relation to return its size. Each gigabyte is in a separate file. */
  #sizeOf(file: string): number {
    let size = 0;
    for (let part = 0; ; part += 1) {
      const name = part === 0 ? file : `${file}.${part}`;
      const found = statSync(path.join(this.#dataDir, name), { throwIfNoEntry: false });
      if (found === undefined) return size;
      size += found.size;
    }
  }

  async #with<T>(database: string, work: (session: OwnSession) => Promise<T>): Promise<T> {
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
