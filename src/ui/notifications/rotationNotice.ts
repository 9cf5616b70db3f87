import { commands, l10n } from 'vscode';
import type { RotationNote } from '../../model/account/keyRotation.ts';
import type { Notes } from '../../model/memory.ts';
import { explainError } from '../text/errorMessage.ts';
import { sanitize } from '../text/sanitize.ts';
import { window } from '../window.ts';

/** Says which keys a rotation may have left. The next start says it again unless the user has closed the message. */
export async function showRotationNotice(
  notes: Notes<RotationNote>,
  note: RotationNote,
  error?: unknown,
): Promise<void> {
  const { id, account, newName, oldName } = note;
  const reason =
    error === undefined
      ? l10n.t('The rotation of an API key was interrupted ({0}).', sanitize(account))
      : l10n.t('{0}: {1}', l10n.t("Couldn't rotate the API key"), explainError(error).message);
  const keys =
    oldName === undefined
      ? l10n.t('A new key “{0}” may exist.', sanitize(newName))
      : l10n.t('The keys “{0}” and “{1}” may both be valid.', sanitize(oldName), sanitize(newName));
  const button = l10n.t('Show API Keys');
  const chosen = await window.showWarningMessage(`${reason} ${keys}`, button);
  notes.delete(id);
  if (chosen === button) await commands.executeCommand('hostedPostgres.apiKeys.focus');
}
