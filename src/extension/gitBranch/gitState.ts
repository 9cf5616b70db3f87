/**
 * Reads from git's files what is checked out. So a checkout in a terminal or by an agent is noticed as fast as one in the
 * editor, and VS Code's Git extension needn't be active.
 */
import type { Repository } from '../../base/git/repository.ts';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { readUserText } from '../../base/files.ts';
import { gitErrorMessage, type RunGit } from '../../base/git/runGit.ts';
import { isSameGitBranch, type BranchMap } from './branchMap.ts';
import type { WatchedFiles } from './watchFiles.ts';

/** An operation in progress, as in `git status`. */
type GitOperation = 'rebase' | 'merge' | 'cherryPick' | 'revert' | 'bisect';

/** Why HEAD may not be the branch that the user works on. */
export type PauseReason = 'detached' | GitOperation;

/** What git has checked out. `branch` is without `refs/heads/`. During a merge, both are set. */
export interface GitState {
  readonly branch: string | undefined;
  readonly pause: PauseReason | undefined;
}

/** The files that show an operation, in the order in which they are checked, because MERGE_HEAD can also exist during a rebase. */
const OPERATION_MARKERS: readonly (readonly [file: string, operation: GitOperation])[] = [
  ['rebase-merge', 'rebase'],
  ['rebase-apply', 'rebase'],
  ['BISECT_START', 'bisect'],
  ['MERGE_HEAD', 'merge'],
  ['CHERRY_PICK_HEAD', 'cherryPick'],
  ['REVERT_HEAD', 'revert'],
];

/** Returns the files that determine the state, by folder. In repositories with reftable, HEAD is in its tables. */
export const stateFiles = ({ gitDir }: Repository): WatchedFiles => [
  [gitDir, ['HEAD', ...OPERATION_MARKERS.map(([file]) => file)]],
  [path.join(gitDir, 'reftable'), ['tables.list']],
];

export async function readGitState({ worktree, gitDir }: Repository, runGit: RunGit): Promise<GitState> {
  const branch = await headBranch(worktree, gitDir, runGit);
  const names = await readdir(gitDir).catch((): string[] => []);
  const operation = OPERATION_MARKERS.find(([file]) => names.includes(file))?.[1];
  return { branch, pause: operation ?? (branch === undefined ? 'detached' : undefined) };
}

async function headBranch(worktree: string, gitDir: string, runGit: RunGit): Promise<string | undefined> {
  const head = (await readUserText(path.join(gitDir, 'HEAD'), gitDir))?.trim();
  // A repository with reftable has this file only for old programs.
  if (head === 'ref: refs/heads/.invalid') {
    const { code, stdout } = await runGit(worktree, 'symbolic-ref', '--quiet', 'HEAD');
    return code === 0 ? branchOfHead(stdout.trim()) : undefined;
  }
  return head?.startsWith('ref: ') === true ? branchOfHead(head.slice('ref: '.length).trim()) : undefined;
}

const branchOfHead = (ref: string): string | undefined =>
  ref.startsWith('refs/heads/') ? ref.slice('refs/heads/'.length) : undefined;

/** Returns the repository's branches, also those that a worktree has checked out before their first commit. @throws {Error} */
export async function readGitBranches(runGit: RunGit, folder: string): Promise<ReadonlySet<string>> {
  const results = await Promise.all([
    runGit(folder, 'for-each-ref', '--format=branch %(refname)', 'refs/heads/'),
    runGit(folder, 'worktree', 'list', '--porcelain'),
  ]);
  const failed = results.find(({ code }) => code !== 0);
  if (failed !== undefined) throw new Error(gitErrorMessage(failed));
  const lines = results.flatMap(({ stdout }) => stdout.split('\n'));
  return new Set(lines.flatMap((line) => /^branch refs\/heads\/(.+)$/.exec(line)?.[1] ?? []));
}

/**
 * Whether a git branch is the repository's default branch, or may be: if no remote says which one it is, each of the usual
 * names counts.
 */
export async function isDefaultBranch(
  repository: Repository,
  branch: string,
  map: Pick<BranchMap, 'ignoresCase'>,
  runGit: RunGit,
): Promise<boolean> {
  const names = await readDefaultNames(repository, runGit);
  return names.some((name) => isSameGitBranch(map, name, branch));
}

/** Returns the names by which `isDefaultBranch` knows the default branch. There needn't be such a branch here. */
export async function readDefaultNames(repository: Repository, runGit: RunGit): Promise<readonly string[]> {
  const names = await defaultBranchesOfRemotes(repository);
  if (names.length > 0) return names;
  const { stdout } = await runGit(repository.worktree, 'config', '--get', 'init.defaultBranch');
  return ['main', 'master', stdout.trim()];
}

/** Returns the default branch of `origin`, or else that of each other remote. */
async function defaultBranchesOfRemotes({ commonDir }: Repository): Promise<readonly string[]> {
  const folder = path.join(commonDir, 'refs', 'remotes');
  const remotes = await readdir(folder).catch((): string[] => []);
  const read = remotes.map(async (remote) => {
    const head = await readUserText(path.join(folder, remote, 'HEAD'), commonDir);
    const [, of, name] = /^ref: refs\/remotes\/([^/]+)\/(.+?)\s*$/.exec(head ?? '') ?? [];
    return of === remote && name !== undefined ? [{ remote, name }] : [];
  });
  const found = (await Promise.all(read)).flat();
  const origin = found.filter(({ remote }) => remote === 'origin');
  return (origin.length > 0 ? origin : found).map(({ name }) => name);
}
