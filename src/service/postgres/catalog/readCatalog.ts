/** Reads databases and roles from Postgres's catalogues, including what users created in SQL. */
import type Client from 'pg/lib/client.js';
import { isSystemDatabase, isSystemRole } from '../../core/computeEngine.ts';

export interface DatabaseRow {
  readonly id: number;
  readonly name: string;
  readonly owner: string;
  readonly created: string | null;
}

export interface RoleRow {
  readonly name: string;
  readonly canLogin: boolean;
  /** Not a password, but enough to guess one. */
  readonly verifier: string | null;
}

export interface CatalogRows {
  readonly databases: readonly DatabaseRow[];
  readonly roles: readonly RoleRow[];
}

/** `datconnlimit` of a database that Postgres began to drop when it was killed. It can only be dropped. */
export const INVALID = -2;

/** A database has no time of creation, but its first file has. */
const DATABASES = `
  select oid as id, datname as name, pg_catalog.pg_get_userbyid(datdba) as owner,
    pg_catalog.to_json((pg_catalog.pg_stat_file(pg_catalog.concat('base/', oid, '/PG_VERSION'), true)).modification)
      as created
  from pg_catalog.pg_database where datconnlimit operator(pg_catalog.<>) ${INVALID} order by oid`;
const ROLES = `
  select rolname as name, rolcanlogin as "canLogin", rolpassword as verifier
  from pg_catalog.pg_authid order by oid`;

/** @param client a superuser's, on the database of that superuser */
export async function readCatalog(client: Client): Promise<CatalogRows> {
  const databases = await client.query<DatabaseRow>(DATABASES);
  const roles = await client.query<RoleRow>(ROLES);
  return {
    databases: databases.rows.filter(({ name }) => !isSystemDatabase(name)),
    roles: roles.rows.filter(({ name }) => !isSystemRole(name)),
  };
}
