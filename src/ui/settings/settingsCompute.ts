/** The compute behind a settings document, or why there is none, as VS Code shows it in the place of the editor. */
import { FileSystemError, l10n, type Uri } from 'vscode';
import { isRefused } from '../../api/errors.ts';
import type { Compute } from '../../api/records.ts';
import type { Inventory } from '../../model/inventory.ts';
import type { Session } from '../../model/session.ts';
import { isOfAccount, settingsOwner, type SettingsOwner } from '../../model/settingsAddress.ts';
import { explainError } from '../text/errorMessage.ts';

/** @throws {FileSystemError} when the document belongs to nobody who is connected */
export function requireAccount({ connection }: Session, uri: Uri): SettingsOwner {
  const owner = settingsOwner(uri);
  if (owner === undefined) throw FileSystemError.FileNotFound(uri);
  if (connection === undefined) throw unavailable(l10n.t('Not connected. Run “Hosted Postgres: Connect…”.'));
  if (isOfAccount(uri, connection.account)) return owner;
  throw unavailable(l10n.t('This document belongs to another account. Switch to that account first.'));
}

/** Asks the service anew. @throws {FileSystemError} */
export async function computeOf(inventory: Inventory, owner: SettingsOwner): Promise<Compute> {
  try {
    await inventory.refreshComputes(owner.projectId);
  } catch (error) {
    if (!isRefused(error, 404)) throw unavailable(explainError(error).message);
  }
  const compute = inventory.compute(owner.projectId, owner.computeId);
  if (compute === undefined) throw unavailable(l10n.t('{0} no longer exists.', owner.computeId));
  return compute;
}

export const unavailable = (words: string): FileSystemError => FileSystemError.Unavailable(words);
