/** The calls that change branches: check the rules, record the change, start the operations. */
import type { BranchPatch, BranchCreationBody, BranchRestoreBody } from '../../../api/records/requests.ts';
import type { Moment } from '../../core/branchHistory.ts';
import { toTimestamp } from '../../core/serviceClock.ts';
import { HttpError, unprocessable } from '../../core/serviceErrors.ts';
import type { ProjectState } from '../../state/accountState.ts';
import type { BranchRecord, Mutation, OperationRecord } from '../../state/storedRecords.ts';
import { readCatalogForCopy } from '../catalog/branchCatalogs.ts';
import { catalogRecords } from '../catalog/catalogRecords.ts';
import { requirePostgres, requireValidCreation, type Allocation } from '../records/computeRecord.ts';
import {
  allocateForCompute,
  openComputeAddresses,
  newPendingCompute,
  withPendingState,
} from '../computes/computes.ts';
import { findInHistory, isHistoryKept, parseMoment } from '../records/historyRetention.ts';
import { generateId } from '../records/generateId.ts';
import { branchTask, computeTask, newStartTask } from '../records/operationRecord.ts';
import type { ControlPlaneContext } from '../operations/operations.ts';
import { branchRemovals } from '../operations/operationSteps.ts';
import { computeMutations } from '../records/countUsage.ts';
import {
  childrenOf,
  computesOf,
  findDefaultBranch,
  findBranch,
  newBranch,
  requireExpiryAllowed,
  isOwnEarlierData,
  requireDeletable,
  requireFreeBranch,
  requireMayHaveChildren,
  requireFreeBranchName,
  requireNotCopied,
  requireReadyBranch,
  withExpiry,
} from '../records/branchRecord.ts';

export interface BranchResult {
  readonly branch: BranchRecord;
  readonly operations: readonly OperationRecord[];
}

type ComputeOfBranch = NonNullable<BranchCreationBody['endpoints']>[number];

export async function createBranch(
  plane: ControlPlaneContext,
  project: ProjectState,
  body: BranchCreationBody,
) {
  const { store, operations } = plane;
  const { endpoints: requested = [], branch: { parent_lsn, parent_timestamp } = {} } = body;
  // This checks the rules before history is searched and addresses are taken.
  const source = buildBranch(plane, project, body).parent;
  const given = parseMoment({ parent_lsn, parent_timestamp }, plane.clock.now());
  const moment = await findInHistory(plane, project, source.id, given);
  const catalog = await readCatalogForCopy({ plane, project, branchId: source.id });
  const engine = await plane.engine;
  const ports = new Set<number>();
  const allocated: (readonly [ComputeOfBranch, Allocation])[] = [];
  for (const endpoint of requested)
    allocated.push([endpoint, await allocateForCompute(engine, store.account, ports)]);
  // Another call may have changed the project in the meantime.
  const { branch, parent } = buildBranch(plane, project, body, moment);
  const isSchemaOnly = branch.init_source === 'schema-only';
  const keepsHistory = isHistoryKept(project, branch);
  const computes = allocated.map(([endpoint, allocation]) =>
    newPendingCompute(plane, project.record, { ...endpoint, branch_id: branch.id }, allocation),
  );
  const started = operations.begin(
    project.record.id,
    [
      branchTask(branch, { kind: 'createBranch', parentId: parent.id, moment, isSchemaOnly, keepsHistory }),
      ...computes.map(newStartTask),
    ],
    [{ set: 'branch', value: branch }, ...computes.map((value): Mutation => ({ set: 'compute', value }))],
  );
  await openComputeAddresses(engine, computes);
  const endpoints = computes.map(({ record }) => record);
  return { branch, endpoints, operations: started, ...catalogRecords(branch, catalog, computes) };
}

/**
 * Builds the record of a new branch. A copy of a schema has no parent.
 * @returns also the branch that is copied @throws {HttpError} if a rule forbids it
 */
function buildBranch(
  plane: ControlPlaneContext,
  project: ProjectState,
  body: BranchCreationBody,
  moment?: Moment,
) {
  const { branch: creation = {}, endpoints = [], annotation_value } = body;
  const now = plane.clock.now();
  const parent = creation.parent_id ? findBranch(project, creation.parent_id) : findDefaultBranch(project);
  const { parent_timestamp } = creation;
  const parent_lsn = moment !== undefined && 'lsn' in moment ? moment.lsn : creation.parent_lsn;
  const { init_source = 'parent-data' } = creation;
  const isSchemaOnly = init_source === 'schema-only';
  if (!isSchemaOnly && init_source !== 'parent-data')
    throw unprocessable('init_source: must be parent-data or schema-only.');
  for (const endpoint of endpoints) requireValidCreation(project.record, endpoint, plane.plan);
  if (endpoints.filter(({ type }) => type === 'read_write').length > 1)
    throw unprocessable('endpoints: a branch can have one read_write compute only.');
  requireReadyBranch(project, parent);
  requireMayHaveChildren(parent);
  const id = newBranchId(plane);
  const { name = id } = creation;
  requireFreeBranchName(project, name);
  const parent_id = isSchemaOnly ? undefined : parent.id;
  const basics = { id, project_id: project.record.id, parent_id, name, default: false };
  const branch: BranchRecord = {
    ...newBranch(basics, now),
    protected: creation.protected ?? false,
    annotation_value,
    ...(isSchemaOnly ? { init_source } : { logical_size: parent.logical_size, parent_lsn, parent_timestamp }),
  };
  const expiring = withExpiry(branch, creation.expires_at ?? null, now);
  requireExpiryAllowed(project, expiring);
  return { branch: expiring, parent };
}

export const newBranchId = ({ store }: ControlPlaneContext): string =>
  generateId('br-', (id) => store.account.isTaken(id));

export function updateBranch(
  { store, clock }: ControlPlaneContext,
  project: ProjectState,
  id: string,
  patch: BranchPatch,
): BranchResult {
  const branch = findBranch(project, id);
  if (patch.name !== undefined) requireFreeBranchName(project, patch.name, id);
  // A branch that is restored from this one becomes its child, and then this one couldn't be deleted.
  if (patch.expires_at) requireNotCopied(project, id);
  const now = clock.now();
  const changed = {
    ...branch,
    name: patch.name ?? branch.name,
    protected: patch.protected ?? branch.protected,
    updated_at: toTimestamp(now),
  };
  const value = patch.expires_at === undefined ? changed : withExpiry(changed, patch.expires_at, now);
  requireExpiryAllowed(project, value);
  store.commit({ set: 'branch', value });
  return { branch: value, operations: [] };
}

export function setDefaultBranch(
  { store, clock }: ControlPlaneContext,
  project: ProjectState,
  id: string,
): BranchResult {
  const updated_at = toTimestamp(clock.now());
  const branch = { ...findFreeBranch(project, id), default: true, updated_at };
  requireExpiryAllowed(project, branch);
  const previous = [...project.branches.values()].filter((each) => each.default && each.id !== id);
  const others = previous.map((each) => ({ ...each, default: false, updated_at }));
  store.commit(...[...others, branch].map((value): Mutation => ({ set: 'branch', value })));
  return { branch, operations: [] };
}

/** Returns undefined if there is no such branch. */
export function deleteBranch(
  plane: ControlPlaneContext,
  project: ProjectState,
  id: string,
): BranchResult | undefined {
  if (!project.branches.has(id)) return undefined;
  const branch = findFreeBranch(project, id);
  requireDeletable(project, branch);
  // A branch that copies only the schema isn't a child, so that the check for children doesn't find it.
  requireNotCopied(project, id);
  const computes = computesOf(project, id);
  const { store, clock } = plane;
  for (const compute of computes)
    store.commit(...computeMutations(store.account, compute, compute.record, clock.now()));
  const removals = computes.map(({ record }) => computeTask(record, { kind: 'remove', type: record.type }));
  const operations = plane.operations.begin(
    project.record.id,
    [...removals, branchTask(branch, { kind: 'deleteBranch' })],
    branchRemovals(project, id),
  );
  return { branch, operations };
}

/** Replaces the data of a branch with that of another one. Its active computes are restarted. */
export async function restoreBranch(
  plane: ControlPlaneContext,
  project: ProjectState,
  id: string,
  request: BranchRestoreBody,
): Promise<BranchResult> {
  requirePostgres(await plane.engine);
  requireRestorable(project, id, request);
  const { source_branch_id: sourceId, source_lsn, source_timestamp } = request;
  const given = parseMoment({ source_lsn, source_timestamp }, plane.clock.now());
  const moment = await findInHistory(plane, project, sourceId, given);
  // Another call may have changed the project in the meantime.
  requireRestorable(project, id, request);
  const branch = findFreeBranch(project, id);
  requireReadyBranch(project, findBranch(project, sourceId));
  const preserved = buildPreservedBranch(plane, project, branch, request.preserve_under_name);
  const active = computesOf(project, id).filter(({ record }) => record.current_state === 'active');
  const pending = active.map((compute) => withPendingState(plane, compute, 'active'));
  const at = toTimestamp(plane.clock.now());
  const value: BranchRecord = {
    ...branch,
    current_state: 'resetting',
    pending_state: 'ready',
    state_changed_at: at,
    updated_at: at,
  };
  const tasks = [
    ...active.map(({ record }) => computeTask(record, { kind: 'suspend' })),
    branchTask(branch, { kind: 'restoreBranch', sourceId, moment, preservedId: preserved?.id }),
    ...pending.map(newStartTask),
  ];
  const changes: Mutation[] = [
    { set: 'branch', value },
    ...(preserved === undefined ? [] : [{ set: 'branch', value: preserved } as const]),
    ...pending.map((compute): Mutation => ({ set: 'compute', value: compute })),
  ];
  return { branch: value, operations: plane.operations.begin(project.record.id, tasks, changes) };
}

/** @throws {HttpError} 404 or 422 */
function requireRestorable(project: ProjectState, id: string, request: BranchRestoreBody): void {
  const branch = findBranch(project, id);
  const source = findBranch(project, request.source_branch_id);
  if (!isOwnEarlierData(branch, source)) requireMayHaveChildren(source);
  if (source.id === id) requireOwnMoment(request);
  if (branch.protected && !request.preserve_under_name)
    throw unprocessable(`Branch ${id} is protected, so preserve_under_name is required.`);
  if (childrenOf(project, id).length > 0 && !request.preserve_under_name)
    throw unprocessable(`Branch ${id} has child branches, so preserve_under_name is required.`);
}

/** Requires what a restore of earlier data of the branch itself needs. @throws {HttpError} 422 */
function requireOwnMoment({ source_lsn, source_timestamp, preserve_under_name }: BranchRestoreBody): void {
  const missing =
    source_lsn === undefined && source_timestamp === undefined
      ? 'source_lsn or source_timestamp'
      : preserve_under_name
        ? undefined
        : 'preserve_under_name';
  if (missing !== undefined)
    throw unprocessable(`source_branch_id: it is the branch itself, so ${missing} is required.`);
}

/** Builds the record of the branch that keeps the old data. @param name undefined or empty if no branch keeps them */
function buildPreservedBranch(
  plane: ControlPlaneContext,
  project: ProjectState,
  { id, project_id, parent_id, expires_at, ttl_interval_seconds }: BranchRecord,
  name: string | undefined,
): BranchRecord | undefined {
  if (!name) return undefined;
  requireFreeBranchName(project, name);
  const basics = { id: newBranchId(plane), project_id, parent_id, name, default: false };
  const branch = newBranch(basics, plane.clock.now());
  return { ...branch, restored_as: id, expires_at, ttl_interval_seconds };
}

/** Deletes expired branches. One that can't be deleted yet is retried at the next check. */
export function deleteExpiredBranches(plane: ControlPlaneContext): void {
  const projects = [...plane.store.account.projects.values()];
  for (const { id, project_id, expires_at } of projects.flatMap(({ branches }) => [...branches.values()])) {
    if (expires_at === undefined || Date.parse(expires_at) > plane.clock.now()) continue;
    try {
      deleteBranch(plane, plane.store.account.project(project_id), id);
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
    }
  }
}

/** @throws {HttpError} 404, or 423 while an operation runs on the branch or its computes */
function findFreeBranch(project: ProjectState, id: string): BranchRecord {
  const branch = findBranch(project, id);
  requireFreeBranch(project, branch);
  return branch;
}
