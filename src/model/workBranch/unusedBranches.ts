/** Which database branches can be deleted because the git branch that they were created for is gone. */
import type { Branch } from '../../api/records/records.ts';
import type { BranchList } from '../inventory/branchLists.ts';
import { deletionProblem } from '../inventory/branchStatus.ts';
import {
  isSameBranch,
  isSameGitBranch,
  type BranchMap,
  type BranchRef,
  type CreatedBranch,
} from './branchMap.ts';

interface LocalFacts {
  readonly map: BranchMap;
  /** The repository's git branches, checked out or not. */
  readonly gitBranches: ReadonlySet<string>;
  /** What env files point to. */
  readonly inFiles: readonly BranchRef[];
}

export interface CleanupFacts extends LocalFacts {
  /** The id of the connected account. */
  readonly account: string;
  /** By project, as they are now. A deleted project has none. */
  readonly lists: ReadonlyMap<string, BranchList>;
  /** Whether the user has marked the account or the project. */
  readonly isMarked: (ref: BranchRef) => boolean;
}

export interface UnusedBranch {
  readonly created: CreatedBranch;
  readonly branch: Branch;
}

export interface Cleanup {
  readonly unused: readonly UnusedBranch[];
  /** Those that no longer exist. */
  readonly gone: readonly CreatedBranch[];
}

export function findUnused(facts: CleanupFacts): Cleanup {
  const { map, account, lists, isMarked } = facts;
  const withoutUse = new Set(createdWithoutUse(facts));
  const unused: UnusedBranch[] = [];
  const gone: CreatedBranch[] = [];
  for (const created of map.created) {
    const list = created.account === account ? lists.get(created.projectId) : undefined;
    if (list === undefined) continue;
    const branch = list.branches.get(created.branchId);
    if (branch === undefined) gone.push(created);
    else if (withoutUse.has(created) && !isKept(list, branch) && !isMarked(created))
      unused.push({ created, branch });
  }
  return { unused, gone };
}

/** How many database branches have lost their git branch, as far as it is known without a request. */
export const countUnused = (facts: LocalFacts): number =>
  new Set(createdWithoutUse(facts).map(({ branchId }) => branchId)).size;

const isKept = (list: BranchList, branch: Branch): boolean =>
  branch.protected === true || deletionProblem(list, branch) !== undefined;

function createdWithoutUse({ map, gitBranches, inFiles }: LocalFacts): readonly CreatedBranch[] {
  const existing = [...gitBranches];
  const exists = (name: string) =>
    gitBranches.has(name) || (map.ignoresCase && existing.some((each) => isSameGitBranch(map, each, name)));
  const mapped = [...map.branches].flatMap(([gitBranch, ref]) => (exists(gitBranch) ? [ref] : []));
  const created = map.created.filter(({ gitBranch }) => exists(gitBranch));
  const used = [...mapped, ...created, map.parent, ...inFiles];
  return map.created.filter((each) => !used.some((ref) => isSameBranch(each, ref)));
}
