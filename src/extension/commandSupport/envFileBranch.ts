import { window as editors, workspace, type Uri } from 'vscode';
import type { BranchRef } from '../account/refs.ts';
import type { CommandContext } from './context.ts';

/**
 * Returns the branch that an env file leads to, if its account is connected: the env file in the folder of a file, or else the
 * shown one.
 */
export function envFileBranch(
  { workFolders, session }: Pick<CommandContext, 'workFolders' | 'session'>,
  uri: Uri | undefined = editors.activeTextEditor?.document.uri,
): BranchRef | undefined {
  const folder = uri && workspace.getWorkspaceFolder(uri);
  const current = (folder && workFolders.of(folder)?.state.current) ?? workFolders.shown?.work.state.current;
  const isHere = current?.account === session.connection?.accountId && current?.isDeleted === false;
  return isHere ? current : undefined;
}
