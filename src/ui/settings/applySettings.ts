/** Applies a settings document to its compute: checks for changes by other clients, confirms the restart, and sends. */
import { commands, FileSystemError, l10n, type Uri } from 'vscode';
import { isCancelled, isRefused } from '../../api/errors.ts';
import type { Compute } from '../../api/records/records.ts';
import type { ComputeChanges } from '../../model/operations/computeChanges.ts';
import type { Inventory } from '../../model/inventory/inventory.ts';
import { areSameSettings, settingsOn, type SettingsText } from '../../model/settings/pgSettings.ts';
import type { AccountConnection } from '../../model/account/accountConnection.ts';
import type { Guards } from '../../model/account/guards.ts';
import type { Session } from '../../model/account/session.ts';
import { belongsToAccount, settingsOwner, type SettingsOwner } from '../../model/settings/settingsUri.ts';
import { announce } from '../notifications/announce.ts';
import { approve, readOnlyError } from '../notifications/approval.ts';
import { effectText } from '../text/effectText.ts';
import { explainError } from '../text/errorMessage.ts';
import { nameOrId } from '../text/sanitize.ts';
import type { SettingsDocument } from './settingsDocument.ts';
import { window } from '../window.ts';

export interface SettingsParts {
  readonly session: Session;
  readonly inventory: Inventory;
  readonly guards: Guards;
  readonly changes: ComputeChanges;
}

/** @throws {FileSystemError} if the document doesn't belong to the connected account */
export function requireAccount({ connection }: Session, uri: Uri): SettingsOwner {
  const owner = settingsOwner(uri);
  if (owner === undefined) throw FileSystemError.FileNotFound(uri);
  if (connection === undefined) throw unavailable(l10n.t('Not connected. Run “Hosted Postgres: Connect…”.'));
  if (belongsToAccount(uri, connection.account)) return owner;
  throw unavailable(l10n.t('This document belongs to another account. Switch to that account first.'));
}

/** Reads the compute from the service. @throws {FileSystemError} */
export async function readCompute(inventory: Inventory, owner: SettingsOwner): Promise<Compute> {
  try {
    await inventory.refreshComputes(owner.projectId);
  } catch (error) {
    if (!isRefused(error, 404)) throw unavailable(explainError(error).message);
  }
  const compute = inventory.compute(owner.projectId, owner.computeId);
  if (compute === undefined) throw unavailable(l10n.t('{0} no longer exists.', owner.computeId));
  return compute;
}

const unavailable = (message: string): FileSystemError => FileSystemError.Unavailable(message);

export const announceNotApplied = (): void =>
  announce(l10n.t('Not applied: the document has problems'), 'error');

/**
 * @returns whether the service accepted the settings
 * @throws {FileSystemError} if they can't be sent, for example without a connection
 */
export async function applySettings(
  { session, inventory, guards, changes }: SettingsParts,
  document: SettingsDocument,
  text: string,
  wanted: SettingsText,
): Promise<boolean> {
  const owner = requireAccount(session, document.uri);
  const { connection } = session;
  const compute = await readCompute(inventory, owner);
  const before = settingsOn(compute);
  const name = nameOrId(compute.name, compute.id);
  if (guards.known(owner) === 'readOnly')
    throw unavailable(explainError(readOnlyError(guards, owner)).message);
  if (areSameSettings(wanted, before)) {
    document.accept(text, wanted);
    announce(l10n.t('{0} already has these settings', name));
    return true;
  }
  const isConfirmed =
    (document.isKnown(before) || (await confirmOverwrite(document, compute))) &&
    (await approveRestart(guards, compute, connection));
  if (!isConfirmed) {
    document.save(text, 'notApplied');
    return false;
  }
  const node = { kind: 'compute', ...owner, branchId: compute.branch_id } as const;
  try {
    const { isPending } = await changes.update(
      node,
      { settings: { pg_settings: { ...wanted } } },
      { initialConnection: connection },
    );
    document.accept(text, wanted, isPending ? before : undefined);
    if (!isPending) announce(l10n.t('Changed {0}', name));
    return true;
  } catch (error) {
    keepRejected(document, text, error);
    return false;
  }
}

/** @throws {FileSystemError} unless the user canceled or the settings themselves are the problem */
function keepRejected(document: SettingsDocument, text: string, error: unknown): void {
  const { message } = explainError(error);
  if (!isCancelled(error) && !isRefused(error, 400, 409, 422)) throw unavailable(message);
  document.save(text, 'notApplied');
  if (isCancelled(error)) return;
  document.reject(message);
  announceNotApplied();
}

/** Section 3.2, rules 1 and 6: a change takes effect at once and drops connections. */
async function approveRestart(
  guards: Guards,
  compute: Compute,
  initialConnection: AccountConnection | undefined,
): Promise<boolean> {
  const name = nameOrId(compute.name, compute.id);
  const question = l10n.t('Apply the Postgres settings to {0}?', name);
  const texts = { name, question, detail: effectText('restart'), button: l10n.t('Apply and Restart') };
  const { project_id: projectId, branch_id: branchId, id: computeId } = compute;
  return await approve(guards, { projectId, branchId, computeId, ...texts }, initialConnection);
}

/** Another client has changed the settings. */
async function confirmOverwrite(document: SettingsDocument, compute: Compute): Promise<boolean> {
  const [compare, overwrite] = [l10n.t('Compare'), l10n.t('Overwrite')];
  const name = nameOrId(compute.name, compute.id);
  const question = l10n.t('The Postgres settings of {0} have changed on the service', name);
  const detail = l10n.t(
    'This document is based on an older version. Select Compare to see both versions; nothing is applied until you save again.',
  );
  const selected = await window.showWarningMessage(question, { modal: true, detail }, compare, overwrite);
  if (selected === compare) {
    // The user sees this version now, so the next save may replace it.
    document.base = settingsOn(compute);
    const title = l10n.t('{0}: on the service ↔ in this document', name);
    void commands.executeCommand('vscode.diff', serviceVersion(document.uri), document.uri, title);
  }
  return selected === overwrite;
}

/** The address of a read-only document with the settings on the service. */
export const serviceVersion = (document: Uri): Uri => document.with({ fragment: 'service' });
