/** Which database branches can be deleted because the git branch that they were created for is gone. */
import type { Branch } from '../../api/records/records.ts';
import type { BranchList } from '../inventory/branchLists.ts';
import { deletionProblem, type DeletionProblem } from '../inventory/branchStatus.ts';
import { isSameGitBranch, type BranchMap, type CreatedBranch } from './branchMap.ts';
import { isSameBranch, type BranchRef } from '../account/refs.ts';

export interface BranchUsage {
  readonly map: BranchMap;
  /** The repository's git branches, checked out or not. */
  readonly gitBranches: ReadonlySet<string>;
  /** The branches that env files point to. */
  readonly inFiles: readonly BranchRef[];
}

/** All that decides which branches can be deleted. */
export interface CleanupFacts extends BranchUsage {
  /** The id of the connected account. */
  readonly account: string;
  /** The current branches by project. A deleted project has none. */
  readonly lists: ReadonlyMap<string, BranchList>;
  /** Whether the user has marked the account or the project. */
  readonly isMarked: (ref: BranchRef) => boolean;
}

/** A database branch whose git branch is gone. */
export interface UnusedBranch {
  readonly created: CreatedBranch;
  readonly branch: Branch;
}

/** Why a branch is kept although its git branch is gone. `gitBranch` means that another git branch uses it. */
export type KeptReason =
  | 'gitBranch'
  | 'newParent'
  | 'envFile'
  | 'marked'
  | 'protected'
  | DeletionProblem['kind'];

/** A database branch that isn't deleted although its git branch is gone. */
export interface KeptBranch extends UnusedBranch {
  readonly reason: KeptReason;
}

/** The database branches of git branches that are gone. */
export interface BranchCleanup {
  readonly unused: readonly UnusedBranch[];
  readonly kept: readonly KeptBranch[];
  /** The branches that no longer exist. */
  readonly gone: readonly CreatedBranch[];
}

export function findUnusedBranches(facts: CleanupFacts): BranchCleanup {
  const { map, account, lists } = facts;
  const exists = gitBranchFinder(facts);
  const unused: UnusedBranch[] = [];
  const kept: KeptBranch[] = [];
  const gone: CreatedBranch[] = [];
  for (const created of map.created) {
    const list = created.account === account ? lists.get(created.projectId) : undefined;
    if (list === undefined) continue;
    const branch = list.branches.get(created.branchId);
    if (!list.isListed(created.branchId)) gone.push(created);
    if (branch === undefined || exists(created.gitBranch)) continue;
    const reason = reasonToKeep(facts, list, created, branch);
    if (reason === undefined) unused.push({ created, branch });
    else kept.push({ created, branch, reason });
  }
  return { unused, kept, gone };
}

function reasonToKeep(
  facts: CleanupFacts,
  list: BranchList,
  created: CreatedBranch,
  branch: Branch,
): KeptReason | undefined {
  const use = findUseOfBranch(facts, created);
  if (use !== undefined) return use;
  if (facts.isMarked(created)) return 'marked';
  return branch.protected === true ? 'protected' : deletionProblem(list, branch)?.kind;
}

/**
 * Returns how many database branches have lost their git branch, as far as it is known without a request.
 * @param isGone whether a branch was deleted. Its record stays if the window was reloaded in the meantime, until the next tidying
 */
export const countUnusedBranches = (facts: BranchUsage, isGone: (ref: BranchRef) => boolean): number =>
  new Set(
    facts.map.created
      .filter((created) => findUseOfBranch(facts, created) === undefined && !isGone(created))
      .map(({ branchId }) => branchId),
  ).size;

function gitBranchFinder({ map, gitBranches }: BranchUsage): (name: string) => boolean {
  const existing = [...gitBranches];
  return (name) =>
    gitBranches.has(name) || (map.ignoresCase && existing.some((each) => isSameGitBranch(map, each, name)));
}

/** Returns what uses a branch, as far as it is known without a request. */
function findUseOfBranch(
  facts: BranchUsage,
  branch: BranchRef,
): 'gitBranch' | 'newParent' | 'envFile' | undefined {
  const { map, inFiles } = facts;
  const exists = gitBranchFinder(facts);
  const ofGitBranches = [
    ...map.created.filter(({ gitBranch }) => exists(gitBranch)),
    ...[...map.branches].flatMap(([gitBranch, ref]) => (exists(gitBranch) ? [ref] : [])),
  ];
  if (ofGitBranches.some((ref) => isSameBranch(branch, ref))) return 'gitBranch';
  if (isSameBranch(branch, map.parent)) return 'newParent';
  return inFiles.some((ref) => isSameBranch(branch, ref)) ? 'envFile' : undefined;
}
