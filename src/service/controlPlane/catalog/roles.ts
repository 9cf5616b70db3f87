/** Roles of a branch and their passwords. */
import type { BranchRole } from '../../core/computeEngine.ts';
import { conflict, preconditionFailed } from '../../core/serviceErrors.ts';
import type { BranchRecord, OperationRecord } from '../../state/storedRecords.ts';
import {
  changeCatalog,
  requireNamed,
  readCatalog,
  rejectReservedName,
  type BranchTarget,
  type CatalogResult,
} from './branchCatalogs.ts';

/** A role as the public service returns it. The password is a secret, and only in the reply that creates or resets it. */
type RoleRecord = ReturnType<typeof roleRecord> & { readonly password?: string };

/** The role, password and database in a connection URI. */
export interface RoleLogin {
  readonly role: string;
  readonly password: string;
  readonly database: string;
}

interface RoleResult {
  readonly role: RoleRecord;
  readonly operations: readonly OperationRecord[];
}

export async function listRoles(target: BranchTarget): Promise<readonly RoleRecord[]> {
  const { branch, catalog } = await readCatalog(target);
  return catalog.roles.map((role) => roleRecord(branch, role));
}

/** @throws {HttpError} 404 */
export async function findRole(target: BranchTarget, name: string): Promise<RoleRecord> {
  return requireNamed('role', await listRoles(target), name);
}

/** Creates a role. Ends the connections to the branch's primary. @throws {HttpError} 409 if the name is taken, 422 if it is reserved */
export async function createRole(
  target: BranchTarget,
  { name, canLogin }: { readonly name: string; readonly canLogin: boolean },
): Promise<RoleResult> {
  rejectReservedName('role', name);
  if ((await listRoles(target)).some((role) => role.name === name))
    throw conflict(`The branch already has a role with the name ${JSON.stringify(name)}.`);
  return roleResult(await changeCatalog(target, { kind: 'createRole', name, canLogin }), name);
}

/** Returns undefined if there is no such role. @throws {HttpError} 409 if it owns databases, 422 if it is reserved */
export async function deleteRole(target: BranchTarget, name: string): Promise<RoleResult | undefined> {
  rejectReservedName('role', name);
  const role = (await listRoles(target)).find((each) => each.name === name);
  if (role === undefined) return undefined;
  const { operations } = await changeCatalog(target, { kind: 'deleteRole', name });
  return { role, operations };
}

/** @throws {HttpError} 404, or 412 if the service doesn't know the password or the role has none */
export async function revealPassword(target: BranchTarget, name: string): Promise<string> {
  return requirePassword(await readCatalog(target, name), name);
}

/** Gives a role a new password, and ends connections to the branch's primary. @throws {HttpError} 404, or 412 if the role can't log in */
export async function resetPassword(target: BranchTarget, name: string): Promise<RoleResult> {
  rejectReservedName('role', name);
  requireLogin(await findRole(target, name));
  return roleResult(await changeCatalog(target, { kind: 'resetPassword', name }), name);
}

/** @throws {HttpError} 404 for an unknown role or database, 412 if the service doesn't know the password or the role has none */
export async function findLogin(target: BranchTarget, role: string, database: string): Promise<RoleLogin> {
  const result = await readCatalog(target, role);
  requireNamed('role', result.catalog.roles, role);
  requireNamed('database', result.catalog.databases, database);
  return { role, password: requirePassword(result, role), database };
}

function roleResult({ branch, catalog, operations }: CatalogResult, name: string): RoleResult {
  const role = roleRecord(branch, requireNamed('role', catalog.roles, name));
  const { password } = catalog;
  return { role: password === undefined ? role : { ...role, password }, operations };
}

/** @throws {HttpError} 404 or 412 */
function requirePassword({ branch, catalog }: CatalogResult, name: string): string {
  requireLogin(roleRecord(branch, requireNamed('role', catalog.roles, name)));
  if (catalog.password !== undefined) return catalog.password;
  throw preconditionFailed(
    `The password of role ${JSON.stringify(name)} was set in SQL and is not known. Reset it to get a new one.`,
  );
}

/** @throws {HttpError} 412 for a role that can't log in */
function requireLogin({ name, authentication_method }: RoleRecord): void {
  if (authentication_method === 'no_login')
    throw preconditionFailed(`Role ${JSON.stringify(name)} can't log in, so it has no password.`);
}

/** Returns a role as the public service does. */
export const roleRecord = (branch: BranchRecord, role: BranchRole) => {
  const created = role.createdAt ?? branch.created_at;
  return {
    branch_id: branch.id,
    name: role.name,
    protected: false,
    authentication_method: role.canLogin ? 'password' : 'no_login',
    created_at: created,
    updated_at: role.updatedAt ?? created,
  };
};
