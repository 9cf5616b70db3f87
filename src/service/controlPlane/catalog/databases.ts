/** Databases of a branch. */
import type { BranchCatalog, BranchDatabase } from '../../core/computeEngine.ts';
import { conflict } from '../../core/serviceErrors.ts';
import type { BranchRecord, OperationRecord } from '../../state/storedRecords.ts';
import {
  changeCatalog,
  requireNamed,
  readCatalog,
  rejectReservedName,
  type BranchTarget,
  type CatalogResult,
} from './branchCatalogs.ts';

interface DatabaseResult {
  readonly database: DatabaseRecord;
  readonly operations: readonly OperationRecord[];
}

export async function listDatabases(target: BranchTarget): Promise<readonly DatabaseRecord[]> {
  const { branch, catalog } = await readCatalog(target);
  return catalog.databases.map((database) => databaseRecord(branch, database));
}

/** @throws {HttpError} 404 */
export async function findDatabase(target: BranchTarget, name: string): Promise<DatabaseRecord> {
  return requireNamed('database', await listDatabases(target), name);
}

/** @throws {HttpError} 404 for an unknown owner, 409 if the name is taken, 422 for a reserved name */
export async function createDatabase(
  target: BranchTarget,
  name: string,
  owner: string,
): Promise<DatabaseResult> {
  rejectReservedName('database', name);
  const { catalog } = await readCatalog(target);
  requireNamed('role', catalog.roles, owner);
  requireNewName(catalog, name);
  return databaseResult(await changeCatalog(target, { kind: 'createDatabase', name, owner }), name);
}

/** Renames a database, which ends its connections, and gives it another owner. @throws {HttpError} like {@link createDatabase} */
export async function updateDatabase(
  target: BranchTarget,
  name: string,
  patch: { readonly name?: string | undefined; readonly owner_name?: string | undefined },
): Promise<DatabaseResult> {
  rejectReservedName('database', name);
  const current = await readCatalog(target);
  const { databases, roles } = current.catalog;
  const found = requireNamed('database', databases, name);
  const { name: newName = name, owner_name: owner = found.owner } = patch;
  rejectReservedName('database', newName);
  requireNamed('role', roles, owner);
  if (newName !== name) requireNewName(current.catalog, newName);
  else if (owner === found.owner) return databaseResult(current, name);
  const command = { kind: 'updateDatabase', name, newName, owner } as const;
  return databaseResult(await changeCatalog(target, command), newName);
}

/** Ends the connections to the database. Returns undefined for an unknown one. @throws {HttpError} 422 for a reserved name */
export async function deleteDatabase(
  target: BranchTarget,
  name: string,
): Promise<DatabaseResult | undefined> {
  rejectReservedName('database', name);
  const database = (await listDatabases(target)).find((each) => each.name === name);
  if (database === undefined) return undefined;
  const { operations } = await changeCatalog(target, { kind: 'deleteDatabase', name });
  return { database, operations };
}

const databaseResult = ({ branch, catalog, operations }: CatalogResult, name: string): DatabaseResult => ({
  database: databaseRecord(branch, requireNamed('database', catalog.databases, name)),
  operations,
});

/** @throws {HttpError} 409 */
function requireNewName({ databases }: BranchCatalog, name: string): void {
  if (databases.some((each) => each.name === name))
    throw conflict(`The branch already has a database with the name ${JSON.stringify(name)}.`);
}

type DatabaseRecord = ReturnType<typeof databaseRecord>;

/** Returns a database as the public service does. */
export const databaseRecord = (branch: BranchRecord, database: BranchDatabase) => {
  const created = database.createdAt ?? branch.created_at;
  return {
    id: database.id,
    branch_id: branch.id,
    name: database.name,
    owner_name: database.owner,
    created_at: created,
    updated_at: created,
  };
};
