import { l10n, workspace } from 'vscode';

/** The palette hides what needs a trusted workspace; a link or a keybinding comes here. @throws {Error} in words */
export function requireTrust(): void {
  if (!workspace.isTrusted) throw new Error(l10n.t('This needs a workspace that you trust.'));
}
