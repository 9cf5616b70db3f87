/** Decides what to do with a folder's env file after a checkout. */
import type { FileProblem } from '../../base/files.ts';
import type { EnvValue } from '../envFile/envVariable.ts';
import { isInMap, type BranchMap } from './branchMap.ts';
import type { GitState, PauseReason } from './gitState.ts';
import { isSameBranch, type BranchRef } from '../account/refs.ts';

/** Why the file can't point to a database branch. */
export type TargetProblem = 'deleted' | 'expired' | 'noCompute' | 'noPassword' | 'offline';

/** All that decides what happens to the env file of a folder. */
export interface EnvFileFacts {
  readonly git: GitState;
  /** Whether a git hook of the public service's command line switches the branch. */
  readonly isFollowedByNeon: boolean;
  /** Whether the checked-out branch is, or may be, the repository's default branch. */
  readonly isDefaultBranch: boolean;
  readonly map: BranchMap;
  /** Git's message if it has failed, so that `map` is an earlier one. */
  readonly gitProblem: string | undefined;
  readonly file: EnvValue['file'] | 'tracked';
  /** The branch of the host in the file; undefined if the host isn't known. */
  readonly current: BranchRef | undefined;
  /** Whether the user has undone the switch to this git branch. */
  readonly isUndone: boolean;
  /** The id of the connected account; undefined without a connection. */
  readonly account: string | undefined;
  /** Why the mapped branch can't be used, as far as it is known without a request. */
  readonly problem: TargetProblem | undefined;
  /**
   * Why the folder of a linked worktree should get a database branch, as other worktrees have one: its file has no value, or
   * the same branch as another one's, which isn't mapped to this git branch.
   */
  readonly lacksOwn: 'missing' | 'shared' | undefined;
}

/** Why the file isn't changed although another branch is checked out. */
export type StopReason =
  | 'noValue'
  | 'foreignValue'
  | 'unsaved'
  | 'tracked'
  | 'notWritten'
  | 'otherAccount'
  | 'gitFailed'
  | FileProblem
  | TargetProblem;

/** Why the file stays as it is. */
export type KeepReason = 'byNeon' | 'defaultBranch' | 'declined' | 'undone';

/** What happens to the env file of a folder, and why. */
export type EnvFileDecision =
  /** The file is up to date, or doesn't follow checkouts. */
  | { readonly kind: 'nothing' }
  | { readonly kind: 'paused'; readonly reason: PauseReason }
  /** Don't change the file. */
  | { readonly kind: 'keep'; readonly reason: KeepReason }
  /** The git branch has no database branch yet. */
  | { readonly kind: 'ask' }
  | { readonly kind: 'stopped'; readonly reason: StopReason; readonly message?: string }
  /** The file is to point to the branch, if the branch can be used. */
  | { readonly kind: 'switch'; readonly target: BranchRef };

/** Why the user is asked for the database branch of a git branch. `missing` and `shared` are reasons only in a linked worktree. */
export type AskReason = 'unmapped' | 'missing' | 'shared';

/** Returns why to ask about the checked-out git branch; undefined if there is no reason. */
export function reasonToAsk(
  decision: EnvFileDecision,
  { git, isFollowedByNeon, map, gitProblem, lacksOwn, isDefaultBranch }: EnvFileFacts,
): AskReason | undefined {
  if (decision.kind === 'ask') return 'unmapped';
  const { branch, pause } = git;
  if (gitProblem !== undefined) return undefined;
  if (branch === undefined || pause !== undefined || isDefaultBranch || isFollowedByNeon) return undefined;
  const mapped = map.branches.get(branch);
  if (lacksOwn === 'missing') return mapped === 'none' ? undefined : lacksOwn;
  return mapped === undefined ? lacksOwn : undefined;
}

/**
 * Whether the file, which doesn't follow checkouts, points to another database branch than that of the checked-out git branch. If
 * that has none yet, only the database branch of another git branch counts, because any other may be shared by all. False if the
 * user has chosen to have none.
 */
export function isOfOtherGitBranch({ git, map, current, isFollowedByNeon }: EnvFileFacts): boolean {
  if (map.isFollowed || isFollowedByNeon || git.branch === undefined || git.pause !== undefined) return false;
  const mapped = map.branches.get(git.branch);
  if (current === undefined || mapped === 'none' || isSameBranch(mapped, current)) return false;
  return mapped !== undefined || isMapped(map, current);
}

const isMapped = ({ branches }: BranchMap, ref: BranchRef | undefined): boolean =>
  [...branches.values()].some((mapped) => isSameBranch(ref, mapped));

export function decideEnvFileChange(facts: EnvFileFacts): EnvFileDecision {
  const { git, map, gitProblem } = facts;
  if (gitProblem !== undefined) return { kind: 'stopped', reason: 'gitFailed', message: gitProblem };
  // Two programs that write one file would get in each other's way.
  if (facts.isFollowedByNeon) return { kind: 'keep', reason: 'byNeon' };
  if (!map.isFollowed) return { kind: 'nothing' };
  if (git.pause !== undefined) return { kind: 'paused', reason: git.pause };
  if (git.branch === undefined) return { kind: 'paused', reason: 'detached' };
  const target = map.branches.get(git.branch);
  if (target === 'none') return { kind: 'keep', reason: 'declined' };
  if (target !== undefined) return decideSwitch(facts, target);
  // The default git branch keeps its database, but not the one of another git branch.
  const isOfOther = isMapped(map, facts.current) && !isSameBranch(facts.current, map.parent);
  return facts.isDefaultBranch && !isOfOther ? { kind: 'keep', reason: 'defaultBranch' } : { kind: 'ask' };
}

function decideSwitch(facts: EnvFileFacts, target: BranchRef): EnvFileDecision {
  const { current, problem } = facts;
  if (isSameBranch(target, current))
    return problem === undefined ? { kind: 'nothing' } : { kind: 'stopped', reason: problem };
  if (facts.isUndone) return { kind: 'keep', reason: 'undone' };
  // Another window's lists may be too old to contain the branch, so a switch asks the service.
  const reason = findObstacle(facts, target) ?? (problem === 'deleted' ? undefined : problem);
  return reason === undefined ? { kind: 'switch', target } : { kind: 'stopped', reason };
}

function findObstacle(
  { file, current, map, account }: EnvFileFacts,
  target: BranchRef,
): StopReason | undefined {
  if (file === 'none') return 'noValue';
  if (file !== 'writable') return file;
  // Only a value that points to a branch of this repository is replaced without asking.
  if (current === undefined || !isInMap(map, current)) return 'foreignValue';
  if (account === undefined) return 'offline';
  return account === target.account ? undefined : 'otherAccount';
}
