/**
 * Deletes projects, and recovers them for as long as their history would have been kept. Until then, the account has their records
 * and the engine has their data, but no compute of them can be reached.
 */
import { toTimestamp } from '../../core/serviceClock.ts';
import { notFound, unprocessable } from '../../core/serviceErrors.ts';
import { mutationsOf, type ProjectState } from '../../state/accountState.ts';
import type { DeletedProject, PendingDeletion } from '../../state/storedRecords.ts';
import { openComputeAddresses } from '../computes/computes.ts';
import { withComputeState } from '../records/computeRecord.ts';
import { historyRetention } from '../records/historyRetention.ts';
import { lockedError, unfinishedOperations } from '../records/operationRecord.ts';
import { computeMutations } from '../records/countUsage.ts';
import type { ControlPlaneContext } from '../operations/operations.ts';

/** For each deleted project, a promise that resolves when its computes are stopped and its size has been checked. */
const stopping = new WeakMap<DeletedProject, Promise<void>>();

/**
 * Removes the project at once. Then its computes are stopped, and without history its data is removed.
 * @throws {HttpError} 422 or 423
 */
export function deleteProject(plane: ControlPlaneContext, project: ProjectState): void {
  const { store, clock } = plane;
  for (const { id, protected: isProtected } of project.branches.values())
    if (isProtected) throw unprocessable(`Branch ${id} is protected. Remove the protection first.`);
  const [busy] = unfinishedOperations(project);
  if (busy !== undefined) throw lockedError(busy);
  const now = clock.now();
  const { id: projectId } = project.record;
  const retention = historyRetention(project.record);
  const leftover = {
    projectId,
    branchIds: branchAndSnapshotIds(project),
    computeIds: [...project.computes.keys()],
  };
  if (retention === 0) return void removeForGood(plane, leftover);
  for (const compute of project.computes.values()) {
    if (compute.record.current_state !== 'active') continue;
    const idle = withComputeState(compute.record, { current: 'idle', pending: undefined }, now);
    store.commit(...computeMutations(store.account, compute, idle, now));
  }
  const value: DeletedProject = {
    ...leftover,
    record: project.record,
    deleted_at: toTimestamp(now),
    recoverable_until: toTimestamp(now + retention * 1000),
    mutations: [...mutationsOf(project)],
  };
  store.commit({ set: 'deleted', value });
  stopping.set(value, stopComputes(plane, value));
}

/** Returns the ids of all branches and snapshots of a project. Its data is stored under them. */
export const branchAndSnapshotIds = ({ branches, snapshots }: ProjectState): string[] => [
  ...branches.keys(),
  ...snapshots.keys(),
];

/** Stops the computes of a deleted project. Never rejects. */
async function stopComputes(
  plane: ControlPlaneContext,
  { projectId, computeIds }: DeletedProject,
): Promise<void> {
  try {
    await plane.store.untilDurable();
    const engine = await plane.engine;
    for (const id of computeIds) await engine.remove(id);
    await removeSurplusProjects(plane);
  } catch (error) {
    // The next start of the service begins without these computes.
    if (!plane.operations.isStopped) plane.logUnexpected(`stopping project ${projectId}`, error);
  }
}

/**
 * Returns the projects that can be recovered. The disk may have no space for one that is still being stopped, so its end
 * is awaited.
 */
export async function listDeletedProjects({ store }: ControlPlaneContext): Promise<DeletedProject[]> {
  const { deleted } = store.account;
  for (const project of deleted.values()) await stopping.get(project);
  return [...deleted.values()];
}

/** Brings a deleted project back, with its connection strings. @throws {HttpError} 404 */
export async function recoverProject(plane: ControlPlaneContext, id: string): Promise<ProjectState> {
  const { store } = plane;
  const { deleted } = store.account;
  const project = deleted.get(id);
  if (project !== undefined) await stopping.get(project);
  // The project may be gone by then.
  if (project === undefined || deleted.get(id) !== project)
    throw notFound('deleted project that can be recovered, with the id', id);
  store.commit({ removed: 'deleted', projectId: id }, ...project.mutations);
  const recovered = store.account.project(id);
  await openComputeAddresses(await plane.engine, [...recovered.computes.values()]);
  return recovered;
}

/** Removes the data of projects that can no longer be recovered. */
export function removeExpiredProjects(plane: ControlPlaneContext): void {
  for (const project of plane.store.account.deleted.values())
    if (Date.parse(project.recoverable_until) <= plane.clock.now()) void removeForGood(plane, project);
}

/** Removes deleted projects for good, the first deleted one first, while their data takes too much space. */
export async function removeSurplusProjects(plane: ControlPlaneContext): Promise<void> {
  const engine = await plane.engine;
  const { deleted } = plane.store.account;
  for (;;) {
    const [oldest] = deleted.values();
    if (oldest === undefined) return;
    const branchIds = [...deleted.values()].flatMap((each) => each.branchIds);
    if (await engine.canKeepDeleted(branchIds)) return;
    // Another call may have removed or recovered the project.
    if (deleted.get(oldest.projectId) === oldest) await removeForGood(plane, oldest);
  }
}

/** Removes the records of a project at once, and then its processes and data. */
async function removeForGood(
  plane: ControlPlaneContext,
  { projectId, branchIds, computeIds }: PendingDeletion,
): Promise<void> {
  const value = { projectId, branchIds, computeIds };
  plane.store.commit(
    { set: 'leftover', value },
    { removed: 'project', projectId },
    { removed: 'deleted', projectId },
  );
  return removeDeletedProjectData(plane, value);
}

/** Removes the processes and data of a deleted project. */
export async function removeDeletedProjectData(
  plane: ControlPlaneContext,
  leftover: PendingDeletion,
): Promise<void> {
  const { store, operations } = plane;
  const { projectId, branchIds, computeIds } = leftover;
  try {
    await store.untilDurable();
    const engine = await plane.engine;
    for (const id of computeIds) await engine.remove(id);
    for (const id of branchIds) await engine.deleteBranch(id);
    if (!operations.isStopped) store.commit({ removed: 'leftover', projectId });
  } catch (error) {
    // The next start tries again.
    if (!operations.isStopped) plane.logUnexpected(`deleting the data of project ${projectId}`, error);
  }
}
