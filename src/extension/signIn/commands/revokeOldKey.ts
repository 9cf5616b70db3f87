/** Offers to revoke the old key after a rotation that couldn't, in the same window or in a later one. */
import { l10n } from 'vscode';
import { isRejected } from '../../../api/transport/errors.ts';
import type { RotationRecord } from '../apiKeys/keyRotation.ts';
import { nameOrId, sanitize } from '../../../base/sanitize.ts';
import { runOrShowFailure } from '../../account/ui/notify.ts';
import type { CommandContext, CommandRun } from '../../commandSupport/context.ts';
import { window } from '../../window/ui/window.ts';
import { showRotationNotice } from '../ui/rotationNotice.ts';
import { revokeKey } from './apiKey.ts';

/** Reports a rotation that began in an earlier window. Never rejects. */
export async function reportRotation(context: CommandContext, record: RotationRecord): Promise<void> {
  const { session, apiKeys, rotationRecords } = context;
  await session.whenRead();
  const { connection } = session;
  if (record.accountId === undefined || record.accountId !== connection?.accountId)
    return await showRotationNotice(rotationRecords, record);
  // Without the list, the message names both keys.
  await apiKeys.load().catch(() => undefined);
  const isStored = apiKeys.keys.some(({ id, name }) => name === record.newName && apiKeys.isInUse(id));
  if (!isStored || record.oldId === undefined) return await showRotationNotice(rotationRecords, record);
  const mayExist = apiKeys.key(record.oldId) !== undefined || apiKeys.unreadable.length > 0;
  if (!mayExist) return rotationRecords.delete(record.id);
  await offerToRevoke(context, { failureMessage: '', initialConnection: connection }, record);
}

/** Says that the old key couldn't be revoked, and offers to try again without another confirmation. An error message stays, unlike a warning. */
export async function offerToRevoke(
  context: CommandContext,
  run: CommandRun,
  { id, newName, oldName, oldId }: RotationRecord,
): Promise<void> {
  if (oldId === undefined) return;
  const shownName = nameOrId(oldName, String(oldId));
  const revoke = l10n.t('Revoke');
  const message = l10n.t(
    "This window now uses API key “{0}”. The old key “{1}” couldn't be revoked.",
    sanitize(newName),
    shownName,
  );
  const chosen = await window.showErrorMessage(message, revoke);
  if (chosen !== revoke) return context.rotationRecords.delete(id);
  await runOrShowFailure(context.log, l10n.t("Couldn't revoke “{0}”", shownName), async () => {
    await revokeKey(context, run, oldId, { isConfirmed: true }).catch((error: unknown) => {
      // Another window, which shows the same message, may have revoked the key.
      if (!isRejected(error, 404)) throw error;
    });
    context.rotationRecords.delete(id);
  });
}
