/** What dumps of the public service need: its roles, and statements that its changed Postgres lets owners run. */
import type Client from 'pg/lib/client.js';
import { fieldsOf } from '../base/fieldsOf.ts';
import type { SkipRule } from '../base/sql/runScript.ts';

/** Roles that each database of the public service has. A dump names them as owners, and in grants. */
const ROLES = ['cloud_admin', 'neon_superuser', 'neondb_owner'];

/**
 * Creates the roles of the public service that a script names and that don't exist. They can't log in, and have no right but to
 * create in this database. The role of the connection becomes a member, so that it can give objects to them and keeps its rights
 * to those.
 */
export async function createPublicServiceRoles(client: Client, text: string): Promise<void> {
  const named = ROLES.filter((role) => new RegExp(`\\b${role}\\b`).test(text));
  if (named.length === 0) return;
  const { rows } = await client.query<{ role: string; isMissing: boolean; database: string }>(
    `select role, to_regrole(role) is null as "isMissing", quote_ident(current_database()) as database
      from unnest($1::text[]) role, pg_roles own
      where own.rolname = current_user and own.rolcreaterole and own.rolname <> role
        and current_setting('server_version_num')::int >= 160000
        and case when to_regrole(role) is null then true else pg_has_role(to_regrole(role), 'SET') end`,
    [named],
  );
  for (const { role, isMissing, database } of rows) {
    if (isMissing) {
      await client.query(`create role ${role} nologin`);
      await client.query(`grant ${role} to current_user with inherit true, set true`);
    }
    // Roles belong to the whole branch, but rights to one database.
    await client.query(`grant create on database ${database} to ${role}`);
    await client.query(`grant create, usage on schema public to ${role}`);
  }
}

/** The statements that may fail, because some are for superusers. Postgres says which. */
const MAY_FAIL =
  /^(?:create\s+(?:event\s+trigger|publication)|(?:alter|drop|comment\s+on)\s+(?:event\s+trigger|publication))\s/i;
const [NOT_ALLOWED, MISSING] = ['42501', '42704'];

/**
 * Skips event triggers and publications of all tables, which Postgres leaves to superusers, with what follows about them.
 * @param onSkip gets a line for the user
 */
export function createSkipRule(onSkip: (line: number, reason: string) => void): SkipRule {
  let hasSkipped = false;
  return {
    mayFail: (text) => MAY_FAIL.test(text),
    skipIfSuperuserOnly(error, line) {
      const { code, message } = fieldsOf(error);
      // Later statements about an object that was skipped fail because it is missing.
      if (code !== NOT_ALLOWED && !(code === MISSING && hasSkipped)) return false;
      hasSkipped = true;
      onSkip(line, String(message));
      return true;
    },
  };
}
