/**
 * The computes of one project as the service last told them. Loaded when first wanted, kept when a refresh fails, and
 * compared record by record, so that only what changed is told on.
 */
import { isSameFailure } from '../../api/errors.ts';
import type { Compute } from '../../api/records/records.ts';
import type { ChangedList } from '../../api/client.ts';
import type { UnreadableRecord } from '../../api/records/parseResponse.ts';
import { isEqual } from '../../base/equal.ts';
import { byTypeAndLabel } from './computeStatus.ts';

/** What a list of computes became: ids that still sit where they sat, branches whose members came or went. */
export interface ComputeListChange {
  readonly computes: readonly string[];
  readonly branches: readonly string[];
  /** Branches appeared or vanished, records became unreadable, or loading began to fail, fails otherwise, or works. */
  readonly isStructural: boolean;
}

/** Returns undefined if the service's reply is still this one. */
type Fetch = (lastBody: string | undefined) => Promise<ChangedList<Compute> | undefined>;

export class ComputeList {
  readonly #fetch: Fetch;
  readonly #tell: (change: ComputeListChange) => void;
  #computes: ReadonlyMap<string, Compute> = new Map();
  #unreadable: readonly UnreadableRecord[] = [];
  #failure: unknown;
  #isLoaded = false;
  #changes = 0;
  /** The reply that the computes and the unreadable records are from; undefined once they are not only from it. */
  #lastBody: string | undefined;
  #underway: Promise<void> | undefined;

  constructor(fetch: Fetch, tell: (change: ComputeListChange) => void) {
    this.#fetch = fetch;
    this.#tell = tell;
  }

  /** Begins with what another list knew last, until it is refreshed. */
  restoreFrom(last: ComputeList): void {
    this.#computes = last.#computes;
    this.#unreadable = last.#unreadable;
    this.#failure = last.#failure;
    this.#isLoaded = last.#isLoaded;
    this.#lastBody = last.#lastBody;
  }

  get computes(): ReadonlyMap<string, Compute> {
    return this.#computes;
  }

  get unreadable(): readonly UnreadableRecord[] {
    return this.#unreadable;
  }

  /** Whether the computes were ever told; until then an empty list means nothing. */
  get isLoaded(): boolean {
    return this.#isLoaded;
  }

  /** Why the last load or refresh failed, if it did. */
  get failure(): unknown {
    return this.#failure;
  }

  /** Branch ids, and each branch's computes in the order of display. */
  branches(): ReadonlyMap<string, readonly Compute[]> {
    const branches = new Map<string, Compute[]>();
    for (const compute of this.#computes.values()) {
      const members = branches.get(compute.branch_id);
      if (members === undefined) branches.set(compute.branch_id, [compute]);
      else members.push(compute);
    }
    for (const members of branches.values()) members.sort(byTypeAndLabel);
    return branches;
  }

  /** Loads once. @throws what the call threw */
  async load(): Promise<void> {
    if (!this.#isLoaded) await this.refresh();
  }

  /** Asks again; those who ask at the same time share one request. @throws what the call threw */
  refresh(): Promise<void> {
    this.#underway ??= this.#ask().finally(() => {
      this.#underway = undefined;
    });
    return this.#underway;
  }

  /** Takes over a record that a call of our own answered with. */
  put(compute: Compute): void {
    this.#changes += 1;
    this.#lastBody = undefined;
    this.#replace(new Map(this.#computes).set(compute.id, compute), this.#unreadable, this.#failure);
  }

  async #ask(): Promise<void> {
    try {
      for (;;) {
        const changes = this.#changes;
        const changed = await this.#fetch(this.#lastBody);
        // A list asked for before our own change may tell the state before it: ask again.
        if (changes !== this.#changes) continue;
        // The service says now what it said then: what is here is what it says, and a failure since is over.
        if (changed === undefined) this.#replace(this.#computes, this.#unreadable, undefined);
        else this.#take(changed);
        return;
      }
    } catch (error) {
      this.#replace(this.#computes, this.#unreadable, error);
      throw error;
    }
  }

  #take({ list, body }: ChangedList<Compute>): void {
    const isFirst = !this.#isLoaded;
    this.#isLoaded = true;
    this.#lastBody = body;
    const computes = new Map(list.items.map((compute) => [compute.id, compute]));
    this.#replace(computes, list.unreadable, undefined, isFirst);
  }

  #replace(
    computes: ReadonlyMap<string, Compute>,
    unreadable: readonly UnreadableRecord[],
    failure: unknown,
    isFirst = false,
  ): void {
    const before = { computes: this.#computes, unreadable: this.#unreadable, failure: this.#failure };
    const difference =
      computes === before.computes ? unchanged(computes) : compare(before.computes, computes);
    this.#computes = difference.kept;
    this.#unreadable = unreadable;
    this.#failure = failure;
    const isStructural =
      isFirst ||
      difference.branchesDiffer ||
      !isEqual(before.unreadable, unreadable) ||
      !isSameFailure(before.failure, failure);
    const change = { computes: difference.changed, branches: [...difference.members], isStructural };
    if (isStructural || change.computes.length > 0 || change.branches.length > 0) this.#tell(change);
  }
}

const unchanged = (kept: ReadonlyMap<string, Compute>) => ({
  kept,
  changed: [],
  members: new Set<string>(),
  branchesDiffer: false,
});

function compare(before: ReadonlyMap<string, Compute>, after: ReadonlyMap<string, Compute>) {
  const changed: string[] = [];
  const members = new Set<string>();
  const kept = new Map<string, Compute>();
  for (const [id, compute] of after) {
    const old = before.get(id);
    const isSame = old !== undefined && isEqual(old, compute);
    kept.set(id, isSame ? old : compute);
    if (isSame) continue;
    if (old?.branch_id === compute.branch_id) changed.push(id);
    else members.add(compute.branch_id);
    if (old !== undefined && old.branch_id !== compute.branch_id) members.add(old.branch_id);
  }
  for (const [id, old] of before) if (!after.has(id)) members.add(old.branch_id);
  const branchesOf = (map: ReadonlyMap<string, Compute>) =>
    new Set([...map.values()].map((c) => c.branch_id));
  const branchesDiffer =
    members.size > 0 && branchesOf(before).symmetricDifference(branchesOf(after)).size > 0;
  return { kept, changed, members, branchesDiffer };
}
