/** Databases of a branch. */
import type { BranchCatalog, BranchDatabase } from '../../core/computeEngine.ts';
import { conflict } from '../../core/errors.ts';
import type { BranchRecord, OperationRecord } from '../../state/storedRecords.ts';
import { findNamed, rejectReservedName, type BranchCatalogs, type BranchTarget } from './branchCatalogs.ts';

/** As the public service returns a database. */
export interface DatabaseRecord {
  readonly id: number;
  readonly branch_id: string;
  readonly name: string;
  readonly owner_name: string;
  readonly created_at: string;
  readonly updated_at: string;
}

interface DatabaseResult {
  readonly database: DatabaseRecord;
  readonly operations: readonly OperationRecord[];
}

export class Databases {
  readonly #catalogs: BranchCatalogs;

  constructor(catalogs: BranchCatalogs) {
    this.#catalogs = catalogs;
  }

  async list(target: BranchTarget): Promise<readonly DatabaseRecord[]> {
    const { branch, catalog } = await this.#catalogs.read(target);
    return catalog.databases.map((database) => databaseRecord(branch, database));
  }

  /** @throws {HttpError} 404 */
  async find(target: BranchTarget, name: string): Promise<DatabaseRecord> {
    return findNamed('database', await this.list(target), name);
  }

  /** @throws {HttpError} 404 for an unknown owner, 409 if the name is taken, 422 for a reserved name */
  async create(target: BranchTarget, name: string, owner: string): Promise<DatabaseResult> {
    rejectReservedName('database', name);
    const { catalog } = await this.#catalogs.read(target);
    findNamed('role', catalog.roles, owner);
    requireNewName(catalog, name);
    return this.#change(target, { kind: 'createDatabase', name, owner }, name);
  }

  /** Renames a database, which ends its connections, and gives it another owner. @throws {HttpError} like {@link create} */
  async update(
    target: BranchTarget,
    name: string,
    patch: { readonly name?: string | undefined; readonly owner_name?: string | undefined },
  ): Promise<DatabaseResult> {
    rejectReservedName('database', name);
    const { branch, catalog } = await this.#catalogs.read(target);
    const now = findNamed('database', catalog.databases, name);
    const { name: newName = name, owner_name: owner = now.owner } = patch;
    rejectReservedName('database', newName);
    findNamed('role', catalog.roles, owner);
    if (newName !== name) requireNewName(catalog, newName);
    else if (owner === now.owner) return { database: databaseRecord(branch, now), operations: [] };
    return this.#change(target, { kind: 'updateDatabase', name, newName, owner }, newName);
  }

  /** Ends the connections to the database. Returns undefined for an unknown one. @throws {HttpError} 422 for a reserved name */
  async delete(target: BranchTarget, name: string): Promise<DatabaseResult | undefined> {
    rejectReservedName('database', name);
    const database = (await this.list(target)).find((each) => each.name === name);
    if (database === undefined) return undefined;
    const { operations } = await this.#catalogs.change(target, { kind: 'deleteDatabase', name });
    return { database, operations };
  }

  async #change(
    target: BranchTarget,
    change: Parameters<BranchCatalogs['change']>[1],
    name: string,
  ): Promise<DatabaseResult> {
    const { branch, catalog, operations } = await this.#catalogs.change(target, change);
    return { database: databaseRecord(branch, findNamed('database', catalog.databases, name)), operations };
  }
}

function requireNewName({ databases }: BranchCatalog, name: string): void {
  if (databases.some((each) => each.name === name))
    throw conflict(`The branch already has a database with the name ${JSON.stringify(name)}.`);
}

export const databaseRecord = (branch: BranchRecord, database: BranchDatabase): DatabaseRecord => {
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
