/** The computes of one project. */
import type { Compute } from '../../api/records/records.ts';
import type { ListDiff } from '../window/remoteList.ts';
import { compareComputes } from './computeStatus.ts';
import type { InventoryEvent } from './nodes.ts';
import { RecordList } from './recordList.ts';

/** Loads and keeps the computes of a project. */
export class ComputeList extends RecordList<Compute> {
  #grouped:
    | {
        readonly items: ReadonlyMap<string, Compute>;
        readonly branches: ReadonlyMap<string, readonly Compute[]>;
      }
    | undefined;

  get computes(): ReadonlyMap<string, Compute> {
    return this.items;
  }

  /** Returns the computes of each branch in the order of display, by the id of the branch. */
  branches(): ReadonlyMap<string, readonly Compute[]> {
    // This is called for each row, so the result is cached. Each change replaces the items.
    if (this.#grouped?.items === this.items) return this.#grouped.branches;
    const branches = Map.groupBy(this.items.values(), (compute) => compute.branch_id);
    for (const members of branches.values()) members.sort(compareComputes);
    this.#grouped = { items: this.items, branches };
    return branches;
  }

  /** Returns the project if branches were added or removed, the branches to or from which computes have moved, and other changed computes. */
  protected override changesIn(
    projectId: string,
    { before, changed, isStructural }: ListDiff<string, Compute>,
  ): readonly InventoryEvent[] {
    const after = this.items;
    const isSameBranch = (id: string) => before.get(id)?.branch_id === after.get(id)?.branch_id;
    const moved = [...before.values(), ...after.values()].filter(({ id }) => !isSameBranch(id));
    const areBranchesOther =
      branchIds(before.values()).symmetricDifference(branchIds(after.values())).size > 0;
    const changes: InventoryEvent[] =
      isStructural || areBranchesOther ? [{ kind: 'project', projectId }] : [];
    for (const branchId of branchIds(moved)) changes.push({ kind: 'branch', projectId, branchId });
    for (const computeId of changed.filter(isSameBranch)) {
      const branchId = after.get(computeId)?.branch_id;
      if (branchId !== undefined) changes.push({ kind: 'compute', projectId, branchId, computeId });
    }
    return changes;
  }
}

const branchIds = (computes: Iterable<Compute>): ReadonlySet<string> =>
  new Set([...computes].map((compute) => compute.branch_id));
