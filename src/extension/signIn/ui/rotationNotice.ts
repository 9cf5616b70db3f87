import { l10n } from 'vscode';
import type { RotationRecord } from '../apiKeys/keyRotation.ts';
import type { RecoveryRecords } from '../../window/memory.ts';
import { asSentence, explainError } from '../../window/ui/errorMessage.ts';
import { sanitize } from '../../../base/sanitize.ts';
import { executeCommand } from '../../window/ui/executeCommand.ts';
import { window } from '../../window/ui/window.ts';

/** Reports the keys that a rotation may have left. The next window reports them again unless the user has closed the message. */
export async function showRotationNotice(
  records: RecoveryRecords<RotationRecord>,
  record: RotationRecord,
  error?: unknown,
): Promise<void> {
  const { id, account, newName, oldName } = record;
  const reason =
    error === undefined
      ? l10n.t('The rotation of an API key was interrupted ({0}).', sanitize(account))
      : l10n.t('{0}: {1}', l10n.t("Couldn't rotate the API key"), explainError(error).message);
  const keys =
    oldName === undefined
      ? l10n.t('A new key “{0}” may exist.', sanitize(newName))
      : l10n.t('The keys “{0}” and “{1}” may both be valid.', sanitize(oldName), sanitize(newName));
  const button = l10n.t('Show API Keys');
  const chosen = await window.showWarningMessage(`${asSentence(reason)} ${keys}`, button);
  records.delete(id);
  if (chosen === button) await executeCommand('hostedPostgres.apiKeys.focus');
}
