import { BranchMapWriter, type BranchRef } from '../../../model/workBranch/branchMap.ts';
import { readGitState } from '../../../model/workBranch/gitState.ts';
import { updateNeonFile } from '../../../model/workBranch/neonFile.ts';
import { runGit } from '../../envFile/git.ts';
import type { CommandContext } from '../context.ts';
import { requireRepository, type GitFolder } from './gitFolder.ts';

/** Maps a git branch to a database branch with this name, also in `.neon`. Call it in trusted workspaces only. @throws {Error} */
export async function mapBranch(
  { log }: Pick<CommandContext, 'log'>,
  { folder, gitBranch }: Pick<GitFolder, 'folder' | 'gitBranch'>,
  ref: BranchRef,
  name: string,
): Promise<void> {
  const path = folder.uri.fsPath;
  await new BranchMapWriter(runGit, path).setBranch(gitBranch, ref);
  try {
    const repository = await requireRepository(folder);
    const isCheckedOut = (await readGitState(repository, runGit)).branch === gitBranch;
    const change = { projectId: ref.projectId, gitBranch, branch: name, isCheckedOut };
    await updateNeonFile(path, repository.worktree, change);
  } catch (error) {
    log.error('Updating .neon', error);
  }
}
