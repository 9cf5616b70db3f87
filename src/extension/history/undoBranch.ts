/** Gives a branch its earlier data, and keeps its present data under another name. So an undo can be undone. */
import type { BranchIds, BranchRef } from '../account/refs.ts';
import type { BranchActions } from '../branches/branchActions.ts';
import { expiryAfter } from '../branches/expiryTime.ts';
import type { BranchList } from '../inventory/branchLists.ts';
import type { Inventory } from '../inventory/inventory.ts';
import type { SendOptions, SendResult } from '../operations/changeSender.ts';
import { finishChange } from '../operations/finishChange.ts';
import type { OperationTracker } from '../operations/operationTracker.ts';
import type { Markers } from './markers.ts';
import type { RestoreSource } from '../account/refs.ts';

type Names = Pick<BranchList, 'findByName'> | undefined;

/** Returns a free name such as `before-undo-14-32` for the branch that keeps the data from before an undo. */
export const preservedName = (list: Names): string => nameWithTime('before-undo', list);

/** Adds the local time to the prefix, and a number if there already is such a branch. */
export function nameWithTime(prefix: string, list: Names, now = new Date()): string {
  const parts = [now.getHours(), now.getMinutes()].map((part) => String(part).padStart(2, '0'));
  const name = `${prefix}-${parts.join('-')}`;
  for (let number = 1; ; number += 1) {
    const unique = number === 1 ? name : `${name}-${number}`;
    if (list?.findByName(unique) === undefined) return unique;
  }
}

const DAY = 24 * 60 * 60;

/** Returns how long the data from before an undo is kept, in seconds: no longer than services let a branch expire. */
const secondsToKeepOldData = (retention: number | null | undefined): number =>
  Math.min(30 * DAY, Math.max(7 * DAY, retention ?? 0));

/** Returns until when the data from before an undo is kept, unless the branch with it can't expire: a timestamp. */
export const keptUntil = (
  inventory: Pick<Inventory, 'branches' | 'project'>,
  { projectId, branchId }: BranchIds,
): string =>
  inventory.branches.get(projectId, branchId)?.expires_at ??
  expiryAfter(secondsToKeepOldData(inventory.project(projectId)?.history_retention_seconds));

interface UndoDependencies {
  readonly branchActions: BranchActions;
  readonly inventory: Inventory;
  readonly markers: Markers;
  readonly tracker: OperationTracker;
}

interface UndoRequest {
  readonly source: RestoreSource;
  /** The name of the branch that keeps the present data, see `preservedName`. */
  readonly name: string;
}

/** @param stop ends the wait for the operations. @throws {ApiError} @throws {Error} if an operation failed */
export async function undoBranch(
  deps: UndoDependencies,
  ref: BranchRef,
  { source, name }: UndoRequest,
  options: SendOptions,
  stop?: AbortSignal,
): Promise<SendResult> {
  const { branchActions, inventory, markers, tracker } = deps;
  const { projectId } = ref;
  const time = Date.now();
  const send = async () => {
    const result = await branchActions.restore(ref, restoreBody(source, name), options);
    const preserved = inventory.branches.forProject(projectId)?.findByName(name);
    if (preserved !== undefined) markers.addUndo(ref, preserved, time);
    return result;
  };
  const result = await finishChange(tracker, options.initialConnection, send, stop);
  const preserved = inventory.branches.forProject(projectId)?.findByName(name);
  // The service may not allow an expiry for the parent of a branch.
  if (preserved !== undefined && !preserved.expires_at && result.pendingId === undefined) {
    const expires_at = keptUntil(inventory, ref);
    await branchActions
      .update({ projectId, branchId: preserved.id }, { expires_at }, options)
      .catch(() => undefined);
  }
  return result;
}

/**
 * Removes the expiry of a branch, such as one that an undo has kept, so that a child can be created from it. A branch that expires
 * can't have children.
 * @returns a function that sets the expiry again, and never rejects
 * @throws {ApiError}
 */
export async function removeExpiryForCopy(
  { branchActions, inventory }: Pick<UndoDependencies, 'branchActions' | 'inventory'>,
  ids: BranchIds,
  options: SendOptions,
): Promise<() => Promise<void>> {
  const expires_at = inventory.branches.get(ids.projectId, ids.branchId)?.expires_at;
  if (!expires_at) return async () => undefined;
  await branchActions.update(ids, { expires_at: null }, options);
  // By then, the branch may have got another child, or have been deleted.
  return async () => void (await branchActions.update(ids, { expires_at }, options).catch(() => undefined));
}

function restoreBody({ branchId, at }: RestoreSource, preserve_under_name: string) {
  const source = { source_branch_id: branchId, preserve_under_name };
  if (at === undefined) return source;
  return 'lsn' in at ? { ...source, source_lsn: at.lsn } : { ...source, source_timestamp: at.timestamp };
}
