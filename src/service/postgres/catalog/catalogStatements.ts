/**
 * Changes databases and roles as superuser, each by one statement or transaction, so that a crash leaves either the old or
 * the new state. Names are always quoted. Most statements run in the maintenance database (named after the superuser),
 * where users own nothing.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type Client from 'pg/lib/client.js';
import { EngineError, type CatalogCommand } from '../../core/computeEngine.ts';
import { isSystemDatabase, isSystemRole, MAINTENANCE_DATABASE, SUPERUSER } from '../../core/systemNames.ts';
import { scramVerifier } from '../roles/logins.ts';
import type { RolePasswords } from '../roles/rolePasswords.ts';
import { INVALID_DATABASE_LIMIT } from '../server/superuser.ts';
import { ROLES_OF_OWNERS, ownerAttributes } from '../template/clusterTemplate.ts';

interface CatalogSession {
  /** A client of the maintenance database. */
  readonly client: Client;
  /** Runs work on another database. */
  readonly inDatabase: <T>(database: string, work: (client: Client) => Promise<T>) => Promise<T>;
  /** The catalog before the change. */
  readonly rows: CatalogRows;
  readonly passwords: RolePasswords;
  /** The major version of Postgres. */
  readonly major: number;
}

/** Changes a database or role. @returns the new password, if the change makes one. @throws {EngineError} or the error of Postgres */
export async function applyCatalogChange(
  session: CatalogSession,
  change: CatalogCommand,
): Promise<string | undefined> {
  const { client } = session;
  const name = client.escapeIdentifier(change.name);
  switch (change.kind) {
    case 'createDatabase':
      await dropInvalid(client);
      await client.query(`CREATE DATABASE ${name} OWNER ${client.escapeIdentifier(change.owner)}`);
      return undefined;
    case 'updateDatabase':
      await updateDatabase(session, change);
      return undefined;
    case 'deleteDatabase':
      // DROP DATABASE doesn't end sessions of replication, so these are ended first.
      await client.query(
        `${END_SESSIONS} where backend_type operator(pg_catalog.=) 'walsender' and ${OF_DATABASE}`,
        [change.name],
      );
      await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      return undefined;
    case 'createRole':
      return createRole(session, change.name, change.canLogin);
    case 'deleteRole':
      await deleteRole(session, change.name);
      return undefined;
    case 'resetPassword':
      return resetPassword(session, change.name);
  }
}

/**
 * Drops databases whose removal was interrupted. Postgres marks a database as invalid before it removes the files. After a kill in
 * between, the name is still taken.
 */
async function dropInvalid(client: Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select datname as name from pg_catalog.pg_database where datconnlimit operator(pg_catalog.=) ${INVALID_DATABASE_LIMIT}`,
  );
  for (const { name } of rows) await client.query(`DROP DATABASE ${client.escapeIdentifier(name)}`);
}

type DatabaseUpdate = Extract<CatalogCommand, { readonly kind: 'updateDatabase' }>;

async function updateDatabase({ client, inDatabase }: CatalogSession, change: DatabaseUpdate): Promise<void> {
  const [name, newName, owner] = [change.name, change.newName, change.owner].map((each) =>
    client.escapeIdentifier(each),
  );
  const changeOwner = `ALTER DATABASE ${name} OWNER TO ${owner}`;
  if (change.newName === change.name) {
    await client.query(changeOwner);
    return;
  }
  await dropInvalid(client);
  // Postgres renames a database without connections only. While RENAME waits for the last one to end, it admits no others.
  let isDone = false;
  const renaming = client
    .query(`${changeOwner}; ALTER DATABASE ${name} RENAME TO ${newName}`)
    .finally(() => (isDone = true));
  renaming.catch(() => undefined);
  await inDatabase(MAINTENANCE_DATABASE, async (second) => {
    while (!isDone) {
      await second.query(`${END_SESSIONS} where ${OF_DATABASE}`, [change.name]);
      await Promise.race([renaming.catch(() => undefined), sleep(20)]);
    }
  });
  await renaming;
}

/** Waits up to 5 s for each session to end. */
const END_SESSIONS = 'select pg_catalog.pg_terminate_backend(pid, 5000) from pg_catalog.pg_stat_activity';
const OF_DATABASE = 'datname operator(pg_catalog.=) $1';

/** Ends all sessions except the service's, as the public service does when it changes roles. */
const END_CLIENTS = `${END_SESSIONS} where backend_type operator(pg_catalog.=) 'client backend'
  and usename operator(pg_catalog.<>) '${SUPERUSER}'`;

async function createRole(
  { client, rows, passwords, major }: CatalogSession,
  role: string,
  canLogin: boolean,
): Promise<string | undefined> {
  // This is checked before a new password replaces the stored one of that role.
  if (rows.roles.some(({ name }) => name === role))
    throw new EngineError(`role ${JSON.stringify(role)} already exists`);
  const create = `CREATE ROLE ${client.escapeIdentifier(role)}`;
  const rights = `${ownerAttributes(major)} IN ROLE ${ROLES_OF_OWNERS}`;
  let password: string | undefined;
  if (canLogin) {
    password = await passwords.change(role, null, async (value) =>
      client.query(`${create} LOGIN PASSWORD ${client.escapeLiteral(scramVerifier(value))} ${rights}`),
    );
  } else await client.query(`${create} NOLOGIN ${rights}`);
  await client.query(END_CLIENTS);
  return password;
}

async function resetPassword({ client, rows, passwords }: CatalogSession, role: string): Promise<string> {
  const found = rows.roles.find(({ name }) => name === role);
  if (found === undefined) throw new EngineError(`role ${JSON.stringify(role)} does not exist`);
  const alter = `ALTER ROLE ${client.escapeIdentifier(role)} PASSWORD`;
  const password = await passwords.change(role, found.verifier, async (value) =>
    client.query(`${alter} ${client.escapeLiteral(scramVerifier(value))}`),
  );
  await client.query(END_CLIENTS);
  return password;
}

/** The databases in which a role owns something or has a privilege. */
const DEPENDENT_DATABASES = `
  select distinct d.datname as name from pg_catalog.pg_shdepend as s
  join pg_catalog.pg_database as d on d.oid operator(pg_catalog.=) s.dbid
  join pg_catalog.pg_authid as a on a.oid operator(pg_catalog.=) s.refobjid
  where s.refclassid operator(pg_catalog.=) 'pg_catalog.pg_authid'::pg_catalog.regclass
    and a.rolname operator(pg_catalog.=) $1`;

/**
 * Deletes a role as the public service does: rejects a role that owns a database, and gives its objects in another's database to
 * that database's owner. A transaction can't span databases, so a role with objects in several of them is rejected, too.
 */
async function deleteRole(
  { client, inDatabase, rows, passwords }: CatalogSession,
  role: string,
): Promise<void> {
  if (!rows.roles.some(({ name }) => name === role)) return;
  const owned = rows.databases.filter(({ owner }) => owner === role).map(({ name }) => name);
  if (owned.length > 0) throw new EngineError(`Role ${role} owns databases: ${owned.join(', ')}`);
  await client.query(`${END_SESSIONS} where usename operator(pg_catalog.=) $1`, [role]);
  const dependent = (await client.query<{ name: string }>(DEPENDENT_DATABASES, [role])).rows
    .map(({ name }) => name)
    .filter((name) => !isSystemDatabase(name));
  if (dependent.length > 1) {
    const list = dependent.join(', ');
    throw new EngineError(
      `Role ${role} owns objects or has privileges in several databases: ${list}. ` +
        'Remove them from all but one of these (REASSIGN OWNED, DROP OWNED)',
    );
  }
  const name = client.escapeIdentifier(role);
  const drop = `DROP OWNED BY ${name}; DROP ROLE ${name}`;
  const [database] = dependent;
  if (database === undefined) await client.query(drop);
  else {
    const newOwner = rows.databases.find((each) => each.name === database)?.owner;
    // The superuser never gets the objects, which may be functions that run with the rights of their owner.
    if (newOwner === undefined || isSystemRole(newOwner))
      throw new EngineError(`Role ${role} owns objects in ${database}, which has no owner to take them`);
    const reassign = `REASSIGN OWNED BY ${name} TO ${client.escapeIdentifier(newOwner)}`;
    await inDatabase(database, async (there) => there.query(`${reassign}; ${drop}`));
  }
  passwords.remove(role);
}

interface DatabaseRow {
  readonly id: number;
  readonly name: string;
  readonly owner: string;
  readonly created: string | null;
}

interface RoleRow {
  readonly name: string;
  readonly canLogin: boolean;
  /** The stored form of the password. It doesn't contain the password, but is enough to test guesses of it. */
  readonly verifier: string | null;
}

/** The databases and roles of a branch, as Postgres has them. */
export interface CatalogRows {
  readonly databases: readonly DatabaseRow[];
  readonly roles: readonly RoleRow[];
}

/** A database has no time of creation, but its first file has. */
const DATABASES = `
  select oid as id, datname as name, pg_catalog.pg_get_userbyid(datdba) as owner,
    pg_catalog.to_json((pg_catalog.pg_stat_file(pg_catalog.concat('base/', oid, '/PG_VERSION'), true)).modification)
      as created
  from pg_catalog.pg_database where datconnlimit operator(pg_catalog.<>) ${INVALID_DATABASE_LIMIT} order by oid`;
const ROLES = `
  select rolname as name, rolcanlogin as "canLogin", rolpassword as verifier
  from pg_catalog.pg_authid order by oid`;

/** @param client a superuser's, on the maintenance database */
export async function queryCatalog(client: Client): Promise<CatalogRows> {
  const databases = await client.query<DatabaseRow>(DATABASES);
  const roles = await client.query<RoleRow>(ROLES);
  return {
    databases: databases.rows.filter(({ name }) => !isSystemDatabase(name)),
    roles: roles.rows.filter(({ name }) => !isSystemRole(name)),
  };
}
