/** The worktrees of a repository, read from git's files, and the database branches that they use. */
import { readdir, readFile, realpath } from 'node:fs/promises';
import path from 'node:path';
import { parseDatabaseUrl } from './databaseUrl.ts';
import { findRepository, type Repository } from './gitState.ts';
import type { KnownBranch, KnownHosts } from './knownHosts.ts';

/** The git worktree around a folder, or else the folder, with links resolved. */
export async function worktreeOf(folder: string): Promise<string> {
  const real = await realpath(folder).catch(() => path.resolve(folder));
  return (await findRepository(real))?.worktree ?? real;
}

/** The folders of the other worktrees. They may have been deleted. */
export async function otherWorktrees({ gitDir, commonDir }: Repository): Promise<string[]> {
  const folder = path.join(commonDir, 'worktrees');
  const names = await readdir(folder).catch(() => []);
  const links = names
    .map((name) => path.join(folder, name))
    .filter((linked) => linked !== gitDir)
    .map((linked) => readFile(path.join(linked, 'gitdir'), 'utf8').catch(() => ''));
  const linked = (await Promise.all(links)).map((file) => path.dirname(file.trim()));
  // A bare repository has no worktree of its own. A submodule's git folder isn't inside its worktree.
  const hasMain = gitDir !== commonDir && path.basename(commonDir) === '.git';
  return [...(hasMain ? [path.dirname(commonDir)] : []), ...linked].filter((other) => path.isAbsolute(other));
}

/** The folders in other worktrees that correspond to this one, with the known branches of their env files. */
export async function branchesInOtherWorktrees(
  folder: string,
  repository: Repository,
  knownHosts: KnownHosts,
  readOther: (folder: string) => Promise<string | undefined>,
): Promise<(readonly [folder: string, branch: KnownBranch])[]> {
  const inside = path.relative(repository.worktree, folder);
  const folders = (await otherWorktrees(repository)).map((worktree) => path.join(worktree, inside));
  const values = await Promise.all(folders.map(readOther));
  return folders.flatMap((other, index) => {
    const known = knownHosts.get(parseDatabaseUrl(values[index] ?? '')?.host ?? '');
    return known === undefined ? [] : [[other, known] as const];
  });
}
