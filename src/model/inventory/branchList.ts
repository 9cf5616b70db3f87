/** The branches of one project by id, if the service offers them. The tree also works without their names. */
import type { Branch } from '../../api/records/records.ts';
import type { ListDiff } from '../remoteList.ts';
import { RecordList, type ConditionalFetch } from '../recordList.ts';
import { usageStep } from './usage.ts';

export interface BranchListDiff {
  /** New branches, and those with another name, mark or state. */
  readonly changed: readonly string[];
  /** Branches were added or removed, or another one is the default. */
  readonly isStructural: boolean;
}

export class BranchList extends RecordList<Branch> {
  readonly #onChange: (change: BranchListDiff) => void;

  constructor(fetch: ConditionalFetch<Branch>, onChange: (change: BranchListDiff) => void) {
    super(fetch);
    this.#onChange = onChange;
  }

  get branches(): ReadonlyMap<string, Branch> {
    return this.items;
  }

  get default(): Branch | undefined {
    return [...this.items.values()].find((branch) => branch.default === true);
  }

  /** The branches that were created from this one. */
  childrenOf(id: string): readonly Branch[] {
    return [...this.items.values()].filter((branch) => branch.parent_id === id);
  }

  protected override notify({ before }: ListDiff<string, Branch>): void {
    const after = this.items;
    const changed = [...after.keys()].filter(
      (id) => visibleFields(before.get(id)) !== visibleFields(after.get(id)),
    );
    const isDefaultChanged = (id: string) => before.get(id)?.default !== after.get(id)?.default;
    const isStructural =
      [...before.keys()].some((id) => !after.has(id)) ||
      changed.some((id) => !before.has(id) || isDefaultChanged(id));
    if (isStructural || changed.length > 0) this.#onChange({ changed, isStructural });
  }
}

/** The fields that the row and the tooltip show. */
const visibleFields = (branch: Branch | undefined): string | undefined =>
  branch &&
  JSON.stringify([
    branch.name,
    branch.parent_id,
    branch.current_state,
    branch.default === true,
    branch.protected === true,
    branch.expires_at,
    usageStep(branch),
  ]);
