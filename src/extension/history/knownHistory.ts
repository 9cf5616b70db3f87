/** What is known of the past of a branch, and whether it can go back. */
import type { BranchRef } from '../account/refs.ts';
import type { Branch } from '../../api/records/records.ts';
import type { BranchList } from '../inventory/branchLists.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { owningBranchId } from '../inventory/snapshotLists.ts';
import type { Markers } from './markers.ts';
import type { BranchHistory } from './moments.ts';

interface HistorySources {
  readonly inventory: Inventory;
  readonly markers: Markers;
}

interface KnownFacts extends Pick<BranchHistory, 'gitEvents' | 'snapshots'> {
  /** The branches of the project, which were just loaded. */
  readonly list: BranchList;
  readonly isLocal?: boolean;
}

/** @throws {ApiError} */
export async function branchHistory(
  { inventory, markers }: HistorySources,
  ref: BranchRef,
  { list, isLocal, ...known }: KnownFacts,
): Promise<BranchHistory> {
  await inventory.projects?.ensureLoaded();
  const branch = list.branches.get(ref.branchId);
  return {
    ref,
    now: Date.now(),
    retention: inventory.project(ref.projectId)?.history_retention_seconds ?? undefined,
    markersOf: (branchId) => markers.ofBranch({ ...ref, branchId }),
    startOf: (branchId) => {
      const branch = list.branches.get(branchId);
      if (branch === undefined) return undefined;
      return Date.parse(branch.last_reset_at ?? branch.created_at ?? '') || 0;
    },
    createdAt: Date.parse(branch?.created_at ?? '') || undefined,
    // The history of a copy without the rows begins later.
    hasFirstMoment: isLocal === true && branch?.init_source !== 'schema-only',
    ownerOf: (snapshot) => owningBranchId(snapshot, list.branches),
    ...known,
  };
}

/**
 * Why a branch can't go back to a time. The last undo can be undone even then, because another branch has the data from before it.
 * - `noHistory`: the project keeps none.
 * - `notRoot`: the public service restores only branches without a parent.
 */
export function timeProblem(
  branch: Branch,
  { retention }: Pick<BranchHistory, 'retention'>,
  isLocal: boolean,
): 'noHistory' | 'notRoot' | undefined {
  if (retention === 0) return 'noHistory';
  return !isLocal && branch.parent_id ? 'notRoot' : undefined;
}
