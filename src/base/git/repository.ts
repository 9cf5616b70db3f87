/** Finds the repository of a folder by git's files, without running git. */
import { lstat, realpath } from 'node:fs/promises';
import path from 'node:path';
import { readUserText } from '../files.ts';

/** A worktree of a repository, or the repository's only one. */
export interface Repository {
  /** The folder with the files. */
  readonly worktree: string;
  /** HEAD and the state of a rebase or merge, separate for each worktree. */
  readonly gitDir: string;
  /** Branches and the configuration, shared by all worktrees. */
  readonly commonDir: string;
}

/** Returns the innermost repository around the folder, or undefined. */
export async function findRepository(folder: string): Promise<Repository | undefined> {
  const entry = path.join(folder, '.git');
  // After any error but that of a missing entry, there may be a repository here.
  const isHere = await lstat(entry).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT' && error.code !== 'ENOTDIR',
  );
  if (isHere) {
    const gitDir = await resolveGitDir(entry);
    const common = await readUserText(path.join(gitDir, 'commondir'), gitDir);
    const commonDir = common === undefined ? gitDir : path.resolve(gitDir, common.trim());
    return { worktree: folder, gitDir, commonDir };
  }
  const parent = path.dirname(folder);
  return parent === folder ? undefined : await findRepository(parent);
}

/**
 * Returns the git folder of a worktree. `.git` is a folder, a link to one, or (in a worktree or submodule) a file with its path.
 */
async function resolveGitDir(entry: string): Promise<string> {
  const named = await readUserText(entry, path.dirname(entry));
  const gitDir = /^gitdir: (.*?)\r?\n?$/s.exec(named ?? '')?.[1];
  const found = gitDir === undefined ? entry : path.resolve(path.dirname(entry), gitDir);
  return await realpath(found).catch(() => found);
}
