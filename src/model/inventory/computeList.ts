/** The computes of one project. */
import type { Compute } from '../../api/records/records.ts';
import { type ListDiff, RecordList, type ConditionalFetch } from '../remoteList.ts';
import { byTypeAndLabel } from './computeStatus.ts';

export interface ComputeListDiff {
  /** Ids of computes that changed and are still on their branch. */
  readonly computes: readonly string[];
  /** Branches that got or lost computes. */
  readonly branches: readonly string[];
  /** Branches were added or removed, or the list as a whole changed. */
  readonly isStructural: boolean;
}

export class ComputeList extends RecordList<Compute> {
  readonly #onChange: (change: ComputeListDiff) => void;
  #grouped:
    | {
        readonly items: ReadonlyMap<string, Compute>;
        readonly branches: ReadonlyMap<string, readonly Compute[]>;
      }
    | undefined;

  constructor(fetch: ConditionalFetch<Compute>, onChange: (change: ComputeListDiff) => void) {
    super(fetch);
    this.#onChange = onChange;
  }

  get computes(): ReadonlyMap<string, Compute> {
    return this.items;
  }

  /** Branch ids, and each branch's computes in the order of display. */
  branches(): ReadonlyMap<string, readonly Compute[]> {
    // Called for each row, so the result is cached. Each change replaces the items.
    if (this.#grouped?.items === this.items) return this.#grouped.branches;
    const branches = Map.groupBy(this.items.values(), (compute) => compute.branch_id);
    for (const members of branches.values()) members.sort(byTypeAndLabel);
    this.#grouped = { items: this.items, branches };
    return branches;
  }

  protected override notify({ before, changed, isStructural }: ListDiff<string, Compute>): void {
    const after = this.items;
    const isSameBranch = (id: string) => before.get(id)?.branch_id === after.get(id)?.branch_id;
    const computes = changed.filter(isSameBranch);
    const moved = [...before.values(), ...after.values()].filter(({ id }) => !isSameBranch(id));
    const branches = new Set(moved.map((compute) => compute.branch_id));
    const areBranchesOther = branchIds(before).symmetricDifference(branchIds(after)).size > 0;
    if (isStructural || computes.length > 0 || branches.size > 0)
      this.#onChange({ computes, branches: [...branches], isStructural: isStructural || areBranchesOther });
  }
}

const branchIds = (computes: ReadonlyMap<string, Compute>) =>
  new Set([...computes.values()].map((compute) => compute.branch_id));
