import { l10n, workspace } from 'vscode';

/**
 * Requires a trusted workspace. The palette hides commands that need one, but links and keybindings don't.
 * @throws {Error} if it isn't
 */
export function requireTrust(): void {
  if (!workspace.isTrusted) throw new Error(l10n.t('This requires a trusted workspace.'));
}

export const workspacePaths = (): readonly string[] =>
  (workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
