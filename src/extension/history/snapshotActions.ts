/** The calls that change and restore snapshots, which keep a branch's data beyond its history. */
import type { SnapshotPatch, SnapshotRestoreBody } from '../../api/records/requests.ts';
import type { Operation } from '../../api/records/records.ts';
import type { BranchRef } from '../account/refs.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { namesOf } from '../inventory/names.ts';
import type { ChangeSender, SendOptions, SendResult } from '../operations/changeSender.ts';
import { finishChange } from '../operations/finishChange.ts';
import type { OperationTracker } from '../operations/operationTracker.ts';
import type { Markers } from './markers.ts';
import type { SnapshotMoment } from './moments.ts';

interface SnapshotDependencies {
  readonly inventory: Inventory;
  readonly markers: Markers;
  readonly sender: ChangeSender;
  readonly tracker: OperationTracker;
}

/** Creates a snapshot. The end of this change is reported like that of others. @throws {ApiError} @throws {NotOfferedError} */
export async function createSnapshot(
  { sender, tracker, inventory }: SnapshotDependencies,
  { projectId, branchId }: BranchRef,
  name: string,
  options: SendOptions,
): Promise<SendResult> {
  let operations: readonly Operation[] = [];
  const sending = sender.send(
    {
      verb: 'create',
      feature: 'snapshots',
      projectId,
      withBranches: true,
      targetStillExists: () => inventory.branches.get(projectId, branchId) !== undefined,
      send: async ({ snapshots }, call) => {
        ({ operations } = await snapshots.create(projectId, branchId, { name }, call));
        return { operations: [] };
      },
      find: () => undefined,
    },
    options,
  );
  const result = await refreshAfter(inventory, projectId, sending);
  const pendingId = tracker.follow('create', { projectId, branchId, snapshot: name }, operations);
  return { ...result, pendingId };
}

/** @throws {ApiError} */
export const updateSnapshot = async (
  { sender, inventory }: SnapshotDependencies,
  projectId: string,
  { id }: SnapshotMoment,
  change: SnapshotPatch,
  options: SendOptions,
): Promise<object> => {
  const sending = sender.call(
    ({ snapshots }, call) => snapshots.update(projectId, id, change, call),
    options,
  );
  await refreshAfter(inventory, projectId, sending);
  return {};
};

/** @throws {ApiError} */
export const deleteSnapshot = async (
  { sender, inventory }: SnapshotDependencies,
  projectId: string,
  { id }: SnapshotMoment,
  options: SendOptions,
): Promise<object> => {
  const sending = sender.call(({ snapshots }, call) => snapshots.delete(projectId, id, call), options);
  return await refreshAfter(inventory, projectId, sending);
};

/** Waits for a change and then reloads the snapshots, so that the rows show what the service has even if the reply was lost. */
async function refreshAfter<T>(inventory: Inventory, projectId: string, change: Promise<T>): Promise<T> {
  try {
    return await change;
  } finally {
    await inventory.snapshots.refreshChanged(projectId);
  }
}

/** Creates a branch with the data of a snapshot. Roles have the passwords of the other branch. @throws {ApiError} */
export async function createBranchOfSnapshot(
  deps: SnapshotDependencies,
  ref: BranchRef,
  { snapshotId, name }: { readonly snapshotId: string; readonly name: string },
  options: SendOptions,
): Promise<SendResult> {
  return await sendRestore(deps, ref, { snapshotId, verb: 'restore', body: { name } }, options);
}

/**
 * Gives a branch the data of a snapshot. It then has another id, and the same name and connection strings.
 * @returns the branch with its data from before, if the service keeps it
 * @throws {ApiError} @throws {Error} if an operation failed
 */
export async function restoreSnapshotInPlace(
  deps: SnapshotDependencies,
  ref: BranchRef,
  { snapshotId, verb }: { readonly snapshotId: string; readonly verb: 'undo' | 'restore' },
  options: SendOptions,
) {
  const { inventory, markers } = deps;
  const { projectId } = ref;
  const time = Date.now();
  const body = { finalize_restore: true };
  const result = await sendRestore(deps, ref, { snapshotId, verb, body }, options);
  await Promise.all([
    inventory.branches.refresh(projectId),
    inventory.refreshComputes(projectId),
    inventory.snapshots.refreshChanged(projectId),
  ]);
  const branchId = result.branch?.id ?? ref.branchId;
  const preserved = branchId === ref.branchId ? undefined : inventory.branches.get(projectId, ref.branchId);
  const restored = { ...ref, branchId };
  // The markers of the past belong to the other branch, as does the history.
  if (preserved !== undefined)
    markers.add(restored, { kind: 'undo', text: preserved.name, preserved: preserved.id }, time);
  return { ...result, restored, preserved };
}

interface SnapshotRestore {
  readonly snapshotId: string;
  /** What the user has started. */
  readonly verb: 'undo' | 'restore';
  readonly body: SnapshotRestoreBody;
}

async function sendRestore(
  { inventory, sender, tracker }: SnapshotDependencies,
  { projectId, branchId: target_branch_id }: BranchRef,
  { snapshotId, verb, body }: SnapshotRestore,
  options: SendOptions,
): Promise<SendResult> {
  const before = new Set(inventory.branches.forProject(projectId)?.branches.keys());
  const name = body.name ?? inventory.branches.get(projectId, target_branch_id)?.name;
  // Until the branch takes the place of the other one, it has another name.
  const names =
    body.finalize_restore === true
      ? namesOf(inventory, { projectId, branchId: target_branch_id })
      : undefined;
  const find = () => {
    const branches = [...(inventory.branches.forProject(projectId)?.branches.values() ?? [])];
    const branch = branches.find((each) => !before.has(each.id) && each.name === name);
    return branch && { branch };
  };
  return await finishChange(tracker, options.initialConnection, () =>
    sender.send(
      {
        verb,
        projectId,
        names,
        withBranches: true,
        send: ({ snapshots }, call) =>
          snapshots.restore(projectId, snapshotId, { ...body, target_branch_id }, call),
        find,
      },
      options,
    ),
  );
}
