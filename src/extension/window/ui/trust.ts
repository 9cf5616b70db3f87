import { l10n, workspace } from 'vscode';

/** The palette hides commands that need a trusted workspace; links and keybindings don't. @throws {Error} if untrusted */
export function requireTrust(): void {
  if (!workspace.isTrusted) throw new Error(l10n.t('This requires a trusted workspace.'));
}
