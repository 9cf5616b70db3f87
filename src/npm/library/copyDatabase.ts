/** Copies a database with its settings and rights, which Postgres keeps outside of it, and drops one with its connections. */
import type Client from 'pg/lib/client.js';
import { fieldsOf } from '../../base/fieldsOf.ts';

/** Copies a database. @throws {Error} of Postgres, such as while others are connected to `from` */
export async function copyDatabase(client: Client, from: string, to: string): Promise<void> {
  await client.query(
    `create database ${client.escapeIdentifier(to)} template ${client.escapeIdentifier(from)}`,
  );
  const { rows } = await client.query<{ sql: string }>(settingsQuery('$1::name', '$2::name'), [from, to]);
  for (const { sql } of rows)
    await client.query(sql).catch((error: unknown) => {
      // This role may not repeat a setting that another role has made for itself.
      if (fieldsOf(error).code !== NOT_ALLOWED) throw error;
    });
}

const NOT_ALLOWED = '42501';

/** Drops the database if it exists. @throws {Error} of Postgres */
export async function dropDatabase(client: Client, name: string): Promise<void> {
  const database = client.escapeIdentifier(name);
  const drop = async () => client.query(`drop database if exists ${database} with (force)`);
  try {
    await drop();
  } catch (error) {
    if (fieldsOf(error).code !== OBJECT_IN_USE) throw error;
    // Postgres doesn't end connections for logical replication by itself, and their programs may connect again at once.
    await client.query(`alter database ${database} allow_connections false`);
    try {
      await client.query(END_REPLICATION, [name]);
      await drop();
    } catch (reason) {
      await client.query(`alter database ${database} allow_connections true`);
      throw reason;
    }
  }
}

export const OBJECT_IN_USE = '55006';
const END_REPLICATION =
  'select pg_terminate_backend(active_pid, 5000) from pg_replication_slots where active and database = $1';

/**
 * @param database an expression with the name of a database
 * @returns a query for the statements that give a new database its settings and rights. Some values are lists of quoted names.
 */
export const settingsQuery = (database: string, target: string): string => `
  select format('alter %s set %I to %s',
      case when setrole = 0 then format('database %I', ${target})
        else format('role %s in database %I', setrole::regrole, ${target}) end,
      split_part(each, '=', 1),
      case when split_part(each, '=', 1) in ('search_path', 'temp_tablespaces', 'local_preload_libraries')
        then substr(each, strpos(each, '=') + 1) else quote_literal(substr(each, strpos(each, '=') + 1)) end) as sql
    from pg_db_role_setting join pg_database d on d.oid = setdatabase cross join unnest(setconfig) as each
    where datname = ${database}
  union all select format('revoke all on database %I from public, %s', ${target}, datdba::regrole)
    from pg_database where datname = ${database} and datacl is not null
  union all select format('grant %s on database %I to %s%s', privilege_type, ${target},
      case when grantee = 0 then 'public' else grantee::regrole::text end,
      case when is_grantable and grantee <> datdba then ' with grant option' end)
    from pg_database cross join aclexplode(datacl) where datname = ${database}`;
