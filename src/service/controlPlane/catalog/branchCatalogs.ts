/** What the calls for databases and roles of a branch share: the branch, its catalog in Postgres, and the operations. */
import type { Rehearsal } from '../../../api/records/rehearsal.ts';
import type { Moment } from '../../core/branchHistory.ts';
import {
  type BranchCatalog,
  type BranchSchema,
  type CatalogCommand,
  ONLY_ROLE,
  type SchemaFormat,
} from '../../core/computeEngine.ts';
import { isSystemDatabase, isSystemRole, READER } from '../../core/systemNames.ts';
import { DATABASE_MISSING_THEN } from '../../../api/transport/errors.ts';
import { HttpError, notFound, unprocessable } from '../../core/serviceErrors.ts';
import type { ProjectState } from '../../state/accountState.ts';
import type { BranchRecord, ComputeRecord, OperationRecord } from '../../state/storedRecords.ts';
import {
  findBranch,
  primaryOf,
  requireFreeBranch,
  requirePrimary,
  requireReadyBranch,
  sourceOfCopy,
} from '../records/branchRecord.ts';
import { requirePostgres } from '../records/computeRecord.ts';
import { findInHistory } from '../records/historyRetention.ts';
import { computeTask, newOperation, oldOperationRemovals } from '../records/operationRecord.ts';
import type { ControlPlaneContext } from '../operations/operations.ts';

/** A branch of a project, by its id. */
export interface BranchTarget {
  readonly plane: ControlPlaneContext;
  readonly project: ProjectState;
  readonly branchId: string;
}

/** The login of the role that only reads. It contains a secret. */
interface ReaderLogin {
  readonly role: string;
  readonly password: string;
}

/** A branch with its catalog, and the operations of a change. */
export interface CatalogResult {
  readonly branch: BranchRecord;
  readonly catalog: BranchCatalog;
  readonly operations: readonly OperationRecord[];
}

/**
 * Reads the databases and roles of a branch. Until the data of a new branch is copied, they are those of its source, so that
 * clients get its connection string at once.
 * @param passwordOf the role whose password the catalog contains; {@link ONLY_ROLE} for that of the role if there is exactly one
 * @throws {HttpError} 404, or 423 while the branch is being restored
 */
export async function readCatalog(
  target: BranchTarget,
  passwordOf?: string | typeof ONLY_ROLE,
): Promise<CatalogResult> {
  const { branch, engine } = await findBranchAndEngine(target);
  const source = sourceOfCopy(target.project, branch) ?? branch;
  requireReadyBranch(target.project, source);
  return { branch, catalog: await engine.catalog(source.id, passwordOf), operations: [] };
}

/** @throws {HttpError} 404 for an unknown database, 423 while the branch has no data */
export async function readSchema(
  target: BranchTarget,
  database: string,
  format: SchemaFormat,
  moment?: Moment,
): Promise<BranchSchema> {
  const { branch, catalog } = await readCatalog(target);
  requireReadyBranch(target.project, branch);
  // At that moment, there may have been other databases.
  if (moment === undefined) requireNamed('database', catalog.databases, database);
  const found = await findInHistory(target.plane, target.project, branch.id, moment);
  const schema = await (await target.plane.engine).schema(branch.id, database, format, found);
  if (schema.sql !== undefined || schema.json !== undefined) return schema;
  const message = `At this moment, the branch had no database ${JSON.stringify(database.slice(0, 80))}.`;
  throw new HttpError(404, DATABASE_MISSING_THEN, message);
}

/** Returns what a copy of the branch begins with: also the password if there is exactly one role. Empty without Postgres. */
export async function readCatalogForCopy(target: BranchTarget): Promise<BranchCatalog> {
  const { engine } = await findBranchAndEngine(target);
  if (engine.pgVersion === undefined) return { databases: [], roles: [] };
  return (await readCatalog(target, ONLY_ROLE)).catalog;
}

/**
 * Starts the branch's primary compute for a client that reads.
 * @throws {HttpError} 404, also without a primary; 409 without Postgres; 423 while the branch has no data
 */
export async function startForReader(target: BranchTarget): Promise<ReaderLogin> {
  const { engine, branchId, primaryId } = await findPrimary(target);
  return { role: READER, password: await engine.startForReader(branchId, primaryId) };
}

/** Observes what clients of the branch do. Starts its primary compute. @throws {HttpError} as {@link startForReader} */
export async function startRehearsal(target: BranchTarget): Promise<void> {
  const { engine, branchId, primaryId } = await findPrimary(target);
  await engine.startRehearsal(branchId, primaryId);
}

/** @throws {HttpError} 409 if no rehearsal was started, or the compute was stopped since */
export async function readRehearsal(target: BranchTarget): Promise<Rehearsal> {
  const { branch, engine } = await findBranchAndEngine(target);
  return engine.rehearsal(branch.id);
}

/** @throws {HttpError} as {@link startForReader} */
async function findPrimary({ project, ...target }: BranchTarget) {
  const { branch, engine } = await findBranchAndEngine({ project, ...target });
  requireReadyBranch(project, branch);
  return { engine, branchId: branch.id, primaryId: requirePrimary(project, branch.id).record.id };
}

/** Changes databases or roles. Resolves when Postgres has executed the command. @throws {HttpError} 404, 409 without Postgres, 423 while an operation runs */
export async function changeCatalog(target: BranchTarget, command: CatalogCommand): Promise<CatalogResult> {
  const { branch, engine } = await findBranchAndEngine(target);
  requireFreeBranch(target.project, branch);
  const catalog = await engine.changeCatalog(branch.id, command);
  return {
    branch,
    catalog,
    operations: recordOperation(target, primaryOf(target.project, branch.id)?.record),
  };
}

/** Finds the branch of a call, and the engine once it has started. @throws {HttpError} 404, or 409 without Postgres */
async function findBranchAndEngine({ plane, project, branchId }: BranchTarget) {
  findBranch(project, branchId);
  const engine = await plane.engine;
  requirePostgres(engine);
  // The branch may have been deleted in the meantime.
  return { branch: findBranch(project, branchId), engine };
}

/** Records a finished operation on the primary, if there is one. */
function recordOperation(
  { plane: { store, clock }, project }: BranchTarget,
  primary: ComputeRecord | undefined,
): readonly OperationRecord[] {
  if (primary === undefined) return [];
  const value = newOperation(computeTask(primary, { kind: 'sql' }), 'finished', clock.now());
  store.commit({ set: 'operation', value }, ...oldOperationRemovals(project));
  return [value.record];
}

/** @throws {HttpError} 404 */
export function requireNamed<T extends { readonly name: string }>(
  kind: 'database' | 'role',
  items: readonly T[],
  name: string,
): T {
  const found = items.find((each) => each.name === name);
  if (found === undefined) throw notFound(`${kind} on this branch with the name`, name);
  return found;
}

/** @throws {HttpError} 422 */
export function rejectReservedName(kind: 'database' | 'role', name: string): void {
  const isReserved = kind === 'role' ? isSystemRole(name) : isSystemDatabase(name);
  if (isReserved) throw unprocessable(`The ${kind} name ${JSON.stringify(name)} is reserved.`);
}
