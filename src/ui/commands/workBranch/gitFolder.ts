/** The folder of a command, and the git branch that is checked out in it. */
import { l10n, Uri, window, workspace, type WorkspaceFolder } from 'vscode';
import { fieldsOf } from '../../../base/fieldsOf.ts';
import { readBranchMap, type BranchMap } from '../../../model/workBranch/branchMap.ts';
import { findRepository, readGitState, type Repository } from '../../../model/workBranch/gitState.ts';
import { runGit } from '../../envFile/git.ts';
import type { CommandContext } from '../context.ts';
import { pickFolder } from '../connection/writeEnv.ts';

export interface GitFolder {
  readonly folder: WorkspaceFolder;
  readonly gitBranch: string;
  readonly map: BranchMap;
}

/**
 * @param argument `{ folder, gitBranch }` with paths and names, or what VS Code passes from the Source Control view
 * @returns undefined if the user canceled
 * @throws {Error} with a message for the user if no git branch is checked out
 */
export async function pickGitFolder(
  { workFolders }: Pick<CommandContext, 'workFolders'>,
  title: string,
  argument: unknown,
): Promise<GitFolder | undefined> {
  const folder = await pickWorkFolder({ workFolders }, title, argument);
  if (folder === undefined) return undefined;
  const { gitBranch: named } = fieldsOf(argument);
  const gitBranch = typeof named === 'string' ? named : await requireGitBranch(folder);
  return { folder, gitBranch, map: await readBranchMap(runGit, folder.uri.fsPath) };
}

/** @param argument see `pickGitFolder`. @returns undefined if the user canceled */
export const pickWorkFolder = async (
  { workFolders }: Pick<CommandContext, 'workFolders'>,
  title: string,
  argument: unknown,
): Promise<WorkspaceFolder | undefined> =>
  folderOf(argument) ?? activeFolder() ?? workFolders.shown?.folder ?? (await pickFolder(title));

/** @throws {Error} with a message for the user if no git branch is checked out */
export async function requireGitBranch(folder: WorkspaceFolder): Promise<string> {
  const gitBranch = await checkedOutBranch(folder);
  if (gitBranch === undefined) throw new Error(l10n.t('No Git branch is checked out.'));
  return gitBranch;
}

/** @returns undefined for a detached HEAD. @throws {Error} with a message for the user if there is no repository */
export async function checkedOutBranch(folder: WorkspaceFolder): Promise<string | undefined> {
  return (await readGitState(await requireRepository(folder), runGit)).branch;
}

/** @throws {Error} with a message for the user if there is none */
export async function requireRepository({ uri, name }: WorkspaceFolder): Promise<Repository> {
  const repository = uri.scheme === 'file' ? await findRepository(uri.fsPath) : undefined;
  if (repository === undefined) throw new Error(l10n.t("{0} isn't in a Git repository.", name));
  return repository;
}

function folderOf(argument: unknown): WorkspaceFolder | undefined {
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
