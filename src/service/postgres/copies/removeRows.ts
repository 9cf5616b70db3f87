/** Removes the rows from a copy of a branch, which then has only the schema, as in a dump that pg_dump makes with `--schema-only`. */
import type Client from 'pg/lib/client.js';
import { EngineError } from '../../core/computeEngine.ts';
import { withSuperuser, INVALID_DATABASE_LIMIT } from '../server/superuser.ts';
import type { ServerAddress } from '../server/serverAddress.ts';
import type { EngineDependencies } from '../template/clusterTemplate.ts';

/**
 * The condition for objects of users, by schema and not by id: in a new branch, their ids are as low as Postgres's own, because no
 * server made them.
 */
const OF_USERS = `relpersistence <> 't'
  and relnamespace <> all ('{pg_catalog,information_schema,pg_toast}'::regnamespace[])`;
/** The condition that leaves out the tables of extensions. They keep their rows, because `CREATE EXTENSION` fills them. */
const NOT_OF_EXTENSION = `not exists (select from pg_depend where classid = 'pg_class'::regclass
  and objid = pg_class.oid and deptype = 'e')`;
/** @param kinds the kinds of relations, as in `pg_class`, such as `r,p` */
const relationsQuery = (
  kinds: string,
): string => `select pg_class.oid as id, format('%I.%I', nspname, relname) as name from pg_class join pg_namespace on pg_namespace.oid = relnamespace
  where relkind::text = any ('{${kinds}}') and ${OF_USERS} and ${NOT_OF_EXTENSION}`;
/** Reads the triggers for TRUNCATE, which would run users' functions as superuser. */
const TRUNCATE_TRIGGERS = `select oid::text as id, tgenabled::text as state from pg_trigger
  where tgtype & 32 <> 0 and not tgisinternal and tgenabled <> 'D'`;
const SET_TRIGGERS = `update pg_trigger set tgenabled = state::"char"
  from unnest($1::oid[], $2::text[]) as changed (id, state) where oid = id`;
/** Reads the foreign tables that are partitions or inherit from a table. */
const FOREIGN_PARTS = `select inhrelid::text as id, inhparent::text as parent from pg_inherits
  join pg_class on oid = inhrelid where relkind = 'f'`;
const SET_PARENTS = `update pg_inherits set inhparent = parent
  from unnest($1::oid[], $2::oid[]) as changed (id, parent) where inhrelid = id`;

/** Reads all databases, also templates, except template1, template0 and `postgres`, in which users can create nothing. */
const DATABASES = `select datname as name, datallowconn as "isOpen" from pg_database
  where oid not in (1, 4, 5) and datconnlimit <> ${INVALID_DATABASE_LIMIT}`;

interface Database {
  readonly name: string;
  readonly isOpen: boolean;
}

interface Prepared {
  readonly gid: string;
  readonly database: string;
}

/**
 * Removes the rows of all tables. Call it while no client is connected to the server. It can be repeated.
 * @throws {EngineError} or an error of Postgres
 */
export async function removeRows(deps: EngineDependencies, address: ServerAddress): Promise<void> {
  const [databases, prepared] = await withSuperuser(deps, address, async (client) => [
    (await client.query<Database>(DATABASES)).rows,
    (await client.query<Prepared>('select gid, database from pg_prepared_xacts')).rows,
  ]);
  const closed = databases.find(({ isOpen }) => !isOpen);
  if (closed)
    throw new EngineError(
      `database "${closed.name}" accepts no connections, so its rows can't be removed: use ALTER DATABASE … ALLOW_CONNECTIONS true`,
    );
  for (const { name } of databases)
    await withSuperuser(
      deps,
      address,
      async (client) => {
        // Prepared transactions hold locks, and what they have changed is not part of the schema yet.
        for (const { gid } of prepared.filter(({ database }) => database === name))
          await client.query(`rollback prepared ${client.escapeLiteral(gid)}`);
        await removeRowsOfDatabase(client);
      },
      name,
    );
}

async function removeRowsOfDatabase(client: Client): Promise<void> {
  const readRelationNames = async (kinds: string) =>
    (await client.query<{ name: string }>(relationsQuery(kinds))).rows.map(({ name }) => name);
  await client.query('begin');
  const triggers = (await client.query<{ id: string; state: string }>(TRUNCATE_TRIGGERS)).rows;
  const ids = triggers.map(({ id }) => id);
  await client.query(SET_TRIGGERS, [ids, ids.map(() => 'D')]);
  const tables = await readRelationNames('r,p');
  // Foreign tables are taken out of their parents for a moment. TRUNCATE would follow them, and remove the rows on other servers
  // as well.
  const parts = (await client.query<Record<'id' | 'parent', string>>(FOREIGN_PARTS)).rows;
  const foreign = parts.map(({ id }) => id);
  await client.query(SET_PARENTS, [foreign, foreign.map(() => '0')]);
  if (tables.length > 0) await client.query(`truncate ${tables.join(', ')}`);
  await client.query(SET_PARENTS, [foreign, parts.map(({ parent }) => parent)]);
  for (const view of await readRelationNames('m'))
    await client.query(`refresh materialized view ${view} with no data`);
  await client.query(
    `select setval(seqrelid, seqstart, false) from pg_sequence join (${relationsQuery('S')}) as found on id = seqrelid`,
  );
  await client.query('select lo_unlink(oid) from pg_largeobject_metadata');
  // Statistics contain values of the rows.
  await client.query(
    `delete from pg_statistic where starelid in (select oid from pg_class where ${OF_USERS})`,
  );
  await client.query('delete from pg_statistic_ext_data');
  await client.query(SET_TRIGGERS, [ids, triggers.map(({ state }) => state)]);
  await client.query('commit');
}
