/** The computes of one project. */
import type { ChangedList } from '../../api/client.ts';
import type { Compute } from '../../api/records/records.ts';
import { RemoteList, type FetchedList, type ListChange } from '../remoteList.ts';
import { byTypeAndLabel } from './computeStatus.ts';

export interface ComputeListChange {
  /** Ids of computes that changed and are still on their branch. */
  readonly computes: readonly string[];
  /** Branches whose computes came or went. */
  readonly branches: readonly string[];
  /** Branches came or went, or the list as a whole changed. */
  readonly isStructural: boolean;
}

/** Returns undefined if the service's reply is still this one. */
export type FetchComputes = (lastBody: string | undefined) => Promise<ChangedList<Compute> | undefined>;

export class ComputeList extends RemoteList<string, Compute> {
  readonly #fetchComputes: FetchComputes;
  readonly #onChange: (change: ComputeListChange) => void;
  /** The reply that the computes are from; undefined after a change made from here. */
  #lastBody: string | undefined;

  constructor(fetchComputes: FetchComputes, onChange: (change: ComputeListChange) => void) {
    super();
    this.#fetchComputes = fetchComputes;
    this.#onChange = onChange;
  }

  get computes(): ReadonlyMap<string, Compute> {
    return this.items;
  }

  override restoreFrom(last: ComputeList): void {
    super.restoreFrom(last);
    this.#lastBody = last.#lastBody;
  }

  /** Branch ids, and each branch's computes in the order of display. */
  branches(): ReadonlyMap<string, readonly Compute[]> {
    const branches = Map.groupBy(this.items.values(), (compute) => compute.branch_id);
    for (const members of branches.values()) members.sort(byTypeAndLabel);
    return branches;
  }

  /** Takes over a record from the reply to a change. */
  put(compute: Compute): void {
    this.#lastBody = undefined;
    this.edit(new Map(this.items).set(compute.id, compute));
  }

  protected override async fetch(): Promise<FetchedList<string, Compute>> {
    const { edits } = this;
    const reply = await this.#fetchComputes(this.#lastBody);
    if (reply === undefined) return this;
    // After an edit in between, this reply is dropped.
    if (edits === this.edits) this.#lastBody = reply.body;
    const { items, unreadable } = reply.list;
    return { items: new Map(items.map((compute) => [compute.id, compute])), unreadable };
  }

  protected override notify({ before, changed, isStructural }: ListChange<string, Compute>): void {
    const after = this.items;
    const isSameBranch = (id: string) => before.get(id)?.branch_id === after.get(id)?.branch_id;
    const computes = changed.filter(isSameBranch);
    const branches = new Set<string>();
    for (const [one, other] of [
      [after, before],
      [before, after],
    ] as const)
      for (const [id, { branch_id: branchId }] of one)
        if (other.get(id)?.branch_id !== branchId) branches.add(branchId);
    const isOther = isStructural || branchIds(before).symmetricDifference(branchIds(after)).size > 0;
    if (isOther || computes.length > 0 || branches.size > 0)
      this.#onChange({ computes, branches: [...branches], isStructural: isOther });
  }
}

const branchIds = (computes: ReadonlyMap<string, Compute>) =>
  new Set([...computes.values()].map((compute) => compute.branch_id));
