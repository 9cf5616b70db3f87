/** The calls for snapshots: copies of a branch's data that outlive its history and the branch itself. */
import type {
  FinalizeRestoreBody,
  SnapshotCreation,
  SnapshotPatch,
  SnapshotRestoreBody,
} from '../../../api/records/requests.ts';
import { toTimestamp } from '../../core/serviceClock.ts';
import { conflict, HttpError, notFound, unprocessable } from '../../core/serviceErrors.ts';
import type { ProjectState } from '../../state/accountState.ts';
import {
  isSnapshotStep,
  type BranchRecord,
  type Mutation,
  type OperationRecord,
  type SnapshotRecord,
} from '../../state/storedRecords.ts';
import { withPendingState } from '../computes/computes.ts';
import type { ControlPlaneContext } from '../operations/operations.ts';
import {
  computesOf,
  findBranch,
  newBranch,
  primaryOf,
  requireExpiryAllowed,
  requireFreeBranch,
  requireFreeBranchName,
  requireNotCopied,
  uniqueName,
  appendToName,
} from '../records/branchRecord.ts';
import { requirePostgres } from '../records/computeRecord.ts';
import { generateId } from '../records/generateId.ts';
import { findInHistory, isHistoryKept, parseMoment } from '../records/historyRetention.ts';
import {
  branchTask,
  computeTask,
  lockedError,
  snapshotTask,
  newStartTask,
  unfinishedOperations,
  type OperationTask,
} from '../records/operationRecord.ts';
import { newBranchId, type BranchResult } from './branches.ts';

/** The most snapshots of a project, as on the public service. */
const LIMITS = { free: 1, paid: 10 } as const;

interface SnapshotResult {
  readonly snapshot: SnapshotRecord;
  readonly operations: readonly OperationRecord[];
}

export async function createSnapshot(
  plane: ControlPlaneContext,
  project: ProjectState,
  branchId: string,
  creation: SnapshotCreation,
): Promise<SnapshotResult> {
  requirePostgres(await plane.engine);
  const { lsn, timestamp } = creation;
  const given = parseMoment({ lsn, timestamp }, plane.clock.now());
  // This checks the rules before history is searched.
  buildSnapshot(plane, project, branchId, creation);
  const moment = await findInHistory(plane, project, branchId, given);
  // Another call may have changed the project in the meantime.
  const snapshot = buildSnapshot(plane, project, branchId, creation);
  const task = snapshotTask(snapshot, { kind: 'createSnapshot', snapshotId: snapshot.id, moment });
  const operations = plane.operations.begin(
    project.record.id,
    [task],
    [{ set: 'snapshot', value: snapshot }],
  );
  return { snapshot, operations };
}

/** Builds the record of a new snapshot. @throws {HttpError} if a rule forbids it */
function buildSnapshot(
  { store, clock, plan }: ControlPlaneContext,
  project: ProjectState,
  branchId: string,
  { expires_at, ...creation }: SnapshotCreation,
): SnapshotRecord {
  const branch = findBranch(project, branchId);
  // A restore in progress may replace the branch.
  requireFreeBranch(project, branch);
  const snapshots = [...project.snapshots.values()];
  if (snapshots.length >= LIMITS[plan])
    throw unprocessable(
      `Project ${project.record.id} has ${LIMITS[plan]} snapshots, which is the limit of the ${plan} plan. Delete one first.`,
    );
  const now = clock.now();
  const created_at = toTimestamp(now);
  const id = generateId('snap-', (taken) => store.account.isTaken(taken));
  const at = creation.timestamp ?? creation.lsn ?? created_at;
  const { slug = id, name = appendToName(branch.name, ` at ${at}`) } = creation;
  const same = snapshots.find((each) => each.slug === slug);
  if (same !== undefined) throw conflict(`A snapshot with the slug ${slug} already exists: ${same.id}.`);
  return {
    id,
    project_id: project.record.id,
    source_branch_id: branch.id,
    ...creation,
    name,
    slug,
    created_at,
    expires_at: parseExpiry(expires_at, now),
    manual: true,
  };
}

/** @throws {HttpError} 422 for a time in the past */
function parseExpiry(expiresAt: string | undefined, now: number): string | undefined {
  if (expiresAt === undefined) return undefined;
  const at = Date.parse(expiresAt);
  if (at <= now) throw unprocessable('expires_at: must be in the future.');
  return toTimestamp(at);
}

/** @throws {HttpError} 404 */
function findSnapshot({ snapshots, record }: ProjectState, id: string): SnapshotRecord {
  const snapshot = snapshots.get(id);
  if (snapshot === undefined) throw notFound(`snapshot in project ${record.id} with the id`, id);
  return snapshot;
}

/** @throws {HttpError} 404, or 423 while it is created */
function findFinishedSnapshot(project: ProjectState, id: string): SnapshotRecord {
  const snapshot = findSnapshot(project, id);
  const busy = unfinishedOperations(project).find(
    ({ step }) => isSnapshotStep(step) && step.snapshotId === id,
  );
  if (busy !== undefined) throw lockedError(busy);
  return snapshot;
}

export function updateSnapshot(
  { store, clock }: ControlPlaneContext,
  project: ProjectState,
  id: string,
  { name, expires_at }: SnapshotPatch,
): SnapshotRecord {
  const snapshot = findSnapshot(project, id);
  const value: SnapshotRecord = {
    ...snapshot,
    name: name ?? snapshot.name,
    expires_at:
      expires_at === undefined ? snapshot.expires_at : parseExpiry(expires_at ?? undefined, clock.now()),
  };
  store.commit({ set: 'snapshot', value });
  return value;
}

export function deleteSnapshot(
  { operations }: ControlPlaneContext,
  project: ProjectState,
  id: string,
): readonly OperationRecord[] {
  const snapshot = findFinishedSnapshot(project, id);
  requireNotCopied(project, id);
  const projectId = project.record.id;
  return operations.begin(
    projectId,
    [snapshotTask(snapshot, { kind: 'deleteSnapshot', snapshotId: id })],
    [{ removed: 'snapshot', projectId, id }],
  );
}

/** Deletes expired snapshots. One that can't be deleted yet is retried at the next check. */
export function deleteExpiredSnapshots(plane: ControlPlaneContext): void {
  for (const project of plane.store.account.projects.values())
    for (const { id, expires_at } of project.snapshots.values()) {
      if (expires_at === undefined || Date.parse(expires_at) > plane.clock.now()) continue;
      try {
        deleteSnapshot(plane, project, id);
      } catch (error) {
        if (!(error instanceof HttpError)) throw error;
      }
    }
}

/**
 * Creates a branch with the data of a snapshot. If the restore is finalized, that branch takes the place of the target, and has
 * `name` only until then.
 */
export async function restoreSnapshot(
  plane: ControlPlaneContext,
  project: ProjectState,
  id: string,
  { name, target_branch_id, finalize_restore = false }: SnapshotRestoreBody,
): Promise<BranchResult> {
  requirePostgres(await plane.engine);
  const snapshot = findFinishedSnapshot(project, id);
  // Without its source, a snapshot can still become a new branch.
  const targetId = target_branch_id ?? snapshot.source_branch_id;
  const isOptional = target_branch_id === undefined && !finalize_restore;
  const target = isOptional ? project.branches.get(targetId) : findBranch(project, targetId);
  if (name !== undefined) requireFreeBranchName(project, name);
  const basics = {
    id: newBranchId(plane),
    project_id: project.record.id,
    name: name ?? uniqueName(project, snapshot.name, ' (restored)'),
    default: false,
  };
  const branch: BranchRecord = {
    ...newBranch(basics, plane.clock.now()),
    restored_from: id,
    restored_as: target?.id,
    restore_status: 'restored',
  };
  const keepsHistory = isHistoryKept(project, finalize_restore && target !== undefined ? target : branch);
  const step = { kind: 'createBranch', parentId: id, passwordsOf: target?.id, keepsHistory } as const;
  const finalization =
    finalize_restore && target !== undefined ? planFinalization(plane, project, branch, target) : undefined;
  const operations = plane.operations.begin(
    project.record.id,
    [branchTask(branch, step), ...(finalization?.tasks ?? [])],
    [{ set: 'branch', value: branch }, ...(finalization?.changes ?? [])],
  );
  return { branch, operations };
}

/**
 * Puts a branch that was restored from a snapshot in the place of another one.
 * @param body has the new name of the branch that is replaced
 */
export async function finalizeRestore(
  plane: ControlPlaneContext,
  project: ProjectState,
  id: string,
  { name }: FinalizeRestoreBody,
): Promise<readonly OperationRecord[]> {
  requirePostgres(await plane.engine);
  const branch = findBranch(project, id);
  requireFreeBranch(project, branch);
  if (branch.restore_status !== 'restored' || branch.restored_as === undefined)
    throw unprocessable(`Branch ${id} is not the restore of a snapshot that can be finalized.`);
  if (name !== undefined) requireFreeBranchName(project, name);
  const { tasks, changes } = planFinalization(
    plane,
    project,
    branch,
    findBranch(project, branch.restored_as),
    name,
  );
  return plane.operations.begin(project.record.id, tasks, changes);
}

/**
 * Plans how a restored branch takes the place of the target, whose active computes are restarted on it.
 * @throws {HttpError} if a rule forbids it
 */
function planFinalization(
  plane: ControlPlaneContext,
  project: ProjectState,
  branch: BranchRecord,
  target: BranchRecord,
  oldName?: string,
): { readonly tasks: readonly OperationTask[]; readonly changes: readonly Mutation[] } {
  requireFreeBranch(project, target);
  requireExpiryAllowed(project, { ...branch, expires_at: target.expires_at });
  const own = primaryOf(project, branch.id);
  if (own !== undefined && primaryOf(project, target.id) !== undefined)
    throw conflict(
      `Branch ${branch.id} has a primary compute, ${own.record.id}, and gets that of ${target.id}. Delete one of them first.`,
    );
  const active = computesOf(project, target.id).filter(({ record }) => record.current_state === 'active');
  const pending = active.map((compute) => withPendingState(plane, compute, 'active'));
  return {
    tasks: [
      ...active.map(({ record }) => computeTask(record, { kind: 'suspend' })),
      branchTask(branch, { kind: 'finalizeBranch', targetId: target.id, oldName }),
      ...pending.map(({ record, ...rest }) =>
        newStartTask({ ...rest, record: { ...record, branch_id: branch.id } }),
      ),
    ],
    changes: pending.map((value) => ({ set: 'compute', value })),
  };
}
