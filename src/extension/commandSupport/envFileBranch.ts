import { window as editors, workspace, type Uri } from 'vscode';
import type { BranchRef } from '../account/refs.ts';
import type { CommandContext } from './context.ts';

/** The branch that the env file in the folder of a file points to, if the account is connected. */
export function envFileBranch(
  { workFolders, session }: Pick<CommandContext, 'workFolders' | 'session'>,
  uri: Uri | undefined = editors.activeTextEditor?.document.uri,
): BranchRef | undefined {
  const folder = uri && workspace.getWorkspaceFolder(uri);
  const current = (folder && workFolders.of(folder)?.state.current) ?? workFolders.shown?.work.state.current;
  const isHere = current?.account === session.connection?.accountId && current?.isDeleted === false;
  return isHere ? current : undefined;
}
