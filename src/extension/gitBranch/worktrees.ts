/** The worktrees of a repository, read from git's files, and the database branches that they use. */
import { readdir, realpath } from 'node:fs/promises';
import path from 'node:path';
import { readUserText, type FileProblem } from '../../base/files.ts';
import { parseDatabaseUrl } from '../../api/addresses/databaseUrl.ts';
import type { EnvVariable } from '../envFile/envVariable.ts';
import { findRepository, type Repository } from '../../base/git/repository.ts';
import type { KnownBranch, KnownHosts } from './knownHosts.ts';

/** Finds the git worktree around a folder. @returns the folder itself without one, with links resolved in any case */
export async function findWorktree(folder: string): Promise<string> {
  const real = await realpath(folder).catch(() => path.resolve(folder));
  return (await findRepository(real))?.worktree ?? real;
}

/** Returns the folders of the other worktrees. They may have been deleted. */
export async function listOtherWorktrees({ gitDir, commonDir }: Repository): Promise<string[]> {
  const folder = path.join(commonDir, 'worktrees');
  const names = await readdir(folder).catch(() => []);
  const entries = names.map((name) => path.join(folder, name)).filter((entry) => entry !== gitDir);
  const linked = (await Promise.all(entries.map(folderOfLinkedWorktree))).filter(
    (found) => found !== undefined,
  );
  // A bare repository has no main worktree. A submodule's git folder isn't inside its worktree.
  const hasMain = gitDir !== commonDir && path.basename(commonDir) === '.git';
  return [...(hasMain ? [path.dirname(commonDir)] : []), ...linked];
}

/** @param entry an entry in `worktrees` of the git folder @returns undefined for one that git hasn't finished */
async function folderOfLinkedWorktree(entry: string): Promise<string | undefined> {
  const gitFile = (await readUserText(path.join(entry, 'gitdir'), entry))?.trim() ?? '';
  // Git 2.48 and later may write a path relative to the entry.
  return gitFile === '' ? undefined : path.dirname(path.resolve(entry, gitFile));
}

/** A folder whose env file can't be used, so that its database branch isn't known. */
export interface UnreadFolder {
  readonly folder: string;
  readonly problem: FileProblem;
}

/** Returns the folders in other worktrees that correspond to this one, with the known branches of their env files. */
export async function branchesInOtherWorktrees(
  folder: string,
  repository: Repository,
  knownHosts: KnownHosts,
  env: Pick<EnvVariable, 'readIn'>,
): Promise<{
  readonly branches: readonly (readonly [folder: string, branch: KnownBranch])[];
  readonly unread: readonly UnreadFolder[];
}> {
  const inside = path.relative(repository.worktree, folder);
  const others = await listOtherWorktrees(repository);
  const worktrees = [repository.worktree, ...others];
  const read = others.map(async (worktree) => {
    const other = path.join(worktree, inside);
    return { folder: other, ...(await env.readIn(other, worktrees)) };
  });
  const found = await Promise.all(read);
  return {
    branches: found.flatMap(({ folder: other, value }) => {
      const known = knownHosts.get(parseDatabaseUrl(value ?? '')?.host ?? '');
      return known === undefined ? [] : [[other, known] as const];
    }),
    unread: found.flatMap(({ folder: other, problem }) =>
      problem === undefined ? [] : [{ folder: other, problem }],
    ),
  };
}
