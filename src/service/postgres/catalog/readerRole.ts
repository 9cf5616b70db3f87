/**
 * The role that reads for the extension and for agents. It is a separate login, so that code that a statement calls can't switch
 * to another role. It reads all, also past row security, and owns nothing. Its password is new in each run of the service, and in
 * no file.
 */
import type Client from 'pg/lib/client.js';
import { EngineError } from '../../core/computeEngine.ts';
import { READER } from '../../core/systemNames.ts';
import type { ServerDependencies } from '../branchData/branchData.ts';
import { newPassword, READER_ROLES, READER_STATEMENTS, scramVerifier } from '../roles/logins.ts';
import type { Postmaster } from '../server/postmaster.ts';
import { withSuperuser } from '../server/superuser.ts';

/** Creates the role that only reads, and knows its password. */
export class ReaderRole {
  readonly #deps: ServerDependencies;
  readonly #password = newPassword();
  /** The servers on which the role has the password. */
  readonly #prepared = new WeakMap<Postmaster, Promise<void>>();

  constructor(deps: ServerDependencies) {
    this.#deps = deps;
  }

  /**
   * Returns the password on the running primary of a branch.
   * @param wake starts a primary that was stopped while this waited for the lock
   * @throws {EngineError}
   */
  async password(branchId: string, wake: () => Promise<void>): Promise<string> {
    const password = await this.#prepare(branchId);
    if (password !== undefined) return password;
    await wake();
    const afterStart = await this.#prepare(branchId);
    if (afterStart === undefined) throw new EngineError(`The compute of ${branchId} is not running`);
    return afterStart;
  }

  /** Returns undefined if no primary runs. */
  async #prepare(branchId: string): Promise<string | undefined> {
    const { branches } = this.#deps;
    return branches.lock(branchId).shared(async () => {
      const server = branches.primary(branchId);
      if (server === undefined) return undefined;
      const preparing =
        this.#prepared.get(server) ??
        withSuperuser(this.#deps, server.address, async (client) => prepareRole(client, this.#password));
      this.#prepared.set(server, preparing);
      // After a failure, the next call tries again.
      preparing.catch(() => this.#prepared.delete(server));
      await preparing;
      return this.#password;
    });
  }
}

/**
 * Reads the roles that the role is a member of, and whether it has members itself. A role with members is a user's: Postgres makes
 * the creator of a role a member, but not the superuser, who creates the service's role.
 */
const STATE = `
  select array(select pg_catalog.pg_get_userbyid(roleid)::pg_catalog.text from pg_catalog.pg_auth_members
      where member operator(pg_catalog.=) r.oid
        and roleid operator(pg_catalog.<>) all ('{${READER_ROLES}}'::pg_catalog.regrole[])) as "memberOf",
    exists (select from pg_catalog.pg_auth_members where roleid operator(pg_catalog.=) r.oid) as "isOfUser"
  from pg_catalog.pg_roles as r where rolname operator(pg_catalog.=) '${READER}'`;

/** @param client a superuser's, on the maintenance database */
async function prepareRole(client: Client, password: string): Promise<void> {
  const [state] = (await client.query<{ memberOf: string[]; isOfUser: boolean }>(STATE)).rows;
  if (state?.isOfUser === true)
    throw new EngineError(
      `The role name ${READER} is reserved. Rename your role: ALTER ROLE ${READER} RENAME TO …`,
    );
  const [role] = state?.memberOf ?? [];
  if (role !== undefined)
    throw new EngineError(
      `${READER} must only read. Run: REVOKE ${client.escapeIdentifier(role)} FROM ${READER}`,
    );
  const verifier = client.escapeLiteral(scramVerifier(password));
  await client.query(
    [...(state === undefined ? READER_STATEMENTS : []), `ALTER ROLE ${READER} PASSWORD ${verifier}`].join(
      ';',
    ),
  );
  const { rows } = await client.query<{ name: string }>(CLOSED_DATABASES);
  for (const { name } of rows)
    await client.query(`GRANT CONNECT ON DATABASE ${client.escapeIdentifier(name)} TO ${READER}`);
}

/** Databases whose owners have revoked the right of all roles to connect. */
const CLOSED_DATABASES = `
  select datname as name from pg_catalog.pg_database
  where datallowconn and not datistemplate and datconnlimit operator(pg_catalog.<>) -2
    and not pg_catalog.has_database_privilege('${READER}', oid, 'CONNECT')`;
