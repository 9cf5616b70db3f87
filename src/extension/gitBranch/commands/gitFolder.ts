/** The folder of a command, the git branch that is checked out in it, and its database branch. */
import { l10n, Uri, window, workspace, type WorkspaceFolder } from 'vscode';
import { fieldsOf } from '../../../base/fieldsOf.ts';
import {
  branchMapWriter,
  isSameGitBranch,
  gitBranchNameInMap,
  readBranchMap,
  type BranchMap,
  type BranchMapWriter,
} from '../branchMap.ts';
import { readDefaultNames, readGitBranches, readGitState } from '../gitState.ts';
import { findRepository, type Repository } from '../../../base/git/repository.ts';
import { updateNeonFile } from '../neonFile.ts';
import { runGit } from '../../window/ui/git.ts';
import { requireTrust } from '../../window/ui/workspace.ts';
import type { CommandContext } from '../../commandSupport/context.ts';
import { pickFolder } from './writeEnv.ts';
import { stopOffering } from '../ui/firstOffer.ts';
import { isSameBranch, type BranchRef } from '../../account/refs.ts';

/** A folder with the git branch that is checked out in it. */
export interface GitFolder {
  readonly folder: WorkspaceFolder;
  readonly repository: Repository;
  readonly gitBranch: string;
  readonly map: BranchMap;
  readonly writer: BranchMapWriter;
}

/**
 * @param argument `{ folder, gitBranch }` with paths and names, or what VS Code passes from the Source Control view
 * @returns undefined if the user canceled
 * @throws {Error} with a message for the user if no git branch is checked out, or the workspace isn't trusted
 */
export async function pickGitFolder(
  context: Pick<CommandContext, 'workFolders'>,
  title: string,
  argument: unknown,
): Promise<GitFolder | undefined> {
  requireTrust();
  const folder = await pickWorkFolder(context, title, argument);
  if (folder === undefined) return undefined;
  stopOffering(folder);
  const repository = await requireRepository(folder);
  const { gitBranch: named } = fieldsOf(argument);
  const branch = typeof named === 'string' ? named : (await readGitState(repository, runGit)).branch;
  if (branch === undefined) throw new Error(l10n.t('No Git branch is checked out.'));
  const { fsPath } = folder.uri;
  const map = await readBranchMap(runGit, fsPath);
  return {
    folder,
    repository,
    gitBranch: gitBranchNameInMap(map, branch),
    map,
    writer: branchMapWriter(runGit, fsPath),
  };
}

/** @param argument see `pickGitFolder`. @returns undefined if the user canceled */
export const pickWorkFolder = async (
  { workFolders }: Pick<CommandContext, 'workFolders'>,
  title: string,
  argument: unknown,
): Promise<WorkspaceFolder | undefined> =>
  folderOfArgument(argument) ?? activeFolder() ?? workFolders.shown?.folder ?? (await pickFolder(title));

/** Whether the git branch is checked out, as it may no longer be after a question. */
export async function isCheckedOut({ repository, gitBranch, map }: GitFolder): Promise<boolean> {
  const { branch } = await readGitState(repository, runGit);
  return branch !== undefined && isSameGitBranch(map, branch, gitBranch);
}

/** Maps the git branch to a database branch with this name, also in `.neon`. Call it in trusted workspaces only. @throws {Error} */
export async function mapBranch(
  { log }: Pick<CommandContext, 'log'>,
  git: GitFolder,
  ref: BranchRef,
  name: string,
): Promise<void> {
  const { folder, repository, gitBranch, writer } = git;
  await writer.setBranch(gitBranch, ref);
  try {
    const change = {
      projectId: ref.projectId,
      gitBranch,
      branch: name,
      isCheckedOut: await isCheckedOut(git),
    };
    await updateNeonFile(folder.uri.fsPath, repository.worktree, change);
  } catch (error) {
    log.error('Updating .neon', error);
  }
}

/**
 * Maps the default git branch to the parent of new branches if the file points to this parent now. So the file also follows a
 * checkout of the default git branch. Does nothing in production.
 * @param name the name of the parent
 */
export async function mapDefaultBranch(
  context: Pick<CommandContext, 'log' | 'guards' | 'workFolders'>,
  git: GitFolder,
  parent: BranchRef,
  name: string,
): Promise<void> {
  const { folder, repository, map } = git;
  const current = context.workFolders.of(folder)?.state.current;
  if (!isSameBranch(parent, current) || context.guards.cachedMark(parent) === 'production') return;
  const names = await readDefaultNames(repository, runGit);
  for (const gitBranch of await readGitBranches(runGit, folder.uri.fsPath))
    if (!map.branches.has(gitBranch) && names.some((each) => isSameGitBranch(map, each, gitBranch)))
      await mapBranch(context, { ...git, gitBranch }, parent, name);
}

/** @throws {Error} with a message for the user if no folder has a Git repository */
export async function requireRepository({ uri, name }: WorkspaceFolder): Promise<Repository> {
  const repository = uri.scheme === 'file' ? await findRepository(uri.fsPath) : undefined;
  if (repository === undefined) throw new Error(l10n.t("{0} isn't in a Git repository.", name));
  return repository;
}

function folderOfArgument(argument: unknown): WorkspaceFolder | undefined {
  const { folder, rootUri } = fieldsOf(argument);
  const uri = typeof folder === 'string' ? Uri.file(folder) : rootUri;
  if (!(uri instanceof Uri)) return undefined;
  // A repository may contain a workspace folder, or be inside one.
  const isBelow = (one: Uri, other: Uri) => `${one.path}/`.startsWith(`${other.path}/`);
  return (
    workspace.getWorkspaceFolder(uri) ?? workspace.workspaceFolders?.find((each) => isBelow(each.uri, uri))
  );
}

const activeFolder = (): WorkspaceFolder | undefined => {
  const uri = window.activeTextEditor?.document.uri;
  return uri && workspace.getWorkspaceFolder(uri);
};
