/**
 * Asks for approval before a change of an account's resources is sent, by a command, a settings document or a tool.
 * `test/unit/architecture.test.ts` checks that every change calls this.
 */
import { l10n } from 'vscode';
import type { AccountConnection } from '../../account/accountConnection.ts';
import type { ComputeIds } from '../../account/refs.ts';
import type { ChangeTarget, ChangeGuards } from '../guards.ts';
import { ReadOnlyError } from '../../window/ui/errorMessage.ts';
import { sanitize } from '../../../base/sanitize.ts';
import { askAboutLoss, lossText } from '../../window/ui/input/dialogs.ts';
import { window } from '../../window/ui/window.ts';
import { droppedPsqlText } from './openPsql.ts';

/** A change that the user is asked about. */
export interface ApprovalRequest extends ChangeTarget {
  /** What the user enters to confirm a change in production. */
  readonly name: string;
  /** The question, such as “Restart the primary of main (shop)?”. It names the branch and the project. */
  readonly question: string;
  /** The text of the button, which is a verb. */
  readonly button: string;
  /** The consequences. Without any, the change needs no confirmation outside production. */
  readonly detail?: string | undefined;
  /** The computes whose connections the change drops. */
  readonly drops?: readonly ComputeIds[] | undefined;
  /** Whether the clients of these computes can connect again to the same data; true by default. */
  readonly reconnects?: boolean;
  /** Whether the consequences can't be undone. If so, the question says that, too. */
  readonly isLoss?: boolean;
  /** Whether the user has to enter the name outside production too. */
  readonly byName?: boolean;
  /** Whether the user has already confirmed the consequences. */
  readonly isConfirmed?: boolean;
}

/**
 * Requires that the target may be changed. Commands that ask other questions before a change call this first.
 * @throws {ReadOnlyError} if the account or project is read-only
 */
export function requireWritable(guards: ChangeGuards, target: ChangeTarget): void {
  if (guards.cachedMark(target) !== 'readOnly') return;
  const { projectId } = target;
  throw guards.accountMark === 'readOnly' || projectId === undefined
    ? new ReadOnlyError(l10n.t('You have protected this account as read-only.'), undefined)
    : new ReadOnlyError(l10n.t('You have protected the project {0} as read-only.', projectId), projectId);
}

/** Lists that are older than this, in milliseconds, are loaded again after the user's answer. */
const LISTS_MAX_AGE = 10_000;

/**
 * Asks the user to approve a change, if necessary. Other windows can switch the account of this one while a question is open.
 * @param initialConnection the connection when the command began
 * @returns whether to make the change
 * @throws {ReadOnlyError}
 * @throws {AccountSwitchedError}
 */
export async function approveChange(
  guards: ChangeGuards,
  asked: ApprovalRequest,
  initialConnection: AccountConnection | undefined,
): Promise<boolean> {
  const change = { ...asked, detail: detailWithPsql(asked) };
  const requireUnchanged = () => {
    guards.requireSameAccount(initialConnection);
    requireWritable(guards, change);
  };
  requireUnchanged();
  const location = { viewId: 'hostedPostgres.computes' };
  const askedAt = guards.now();
  const refreshed = window.withProgress({ location }, () => guards.refreshProtection(change));
  if (!guards.isProtectionCached(change)) await refreshed;
  const nameRequest = nameRequestText(guards, change);
  let isApproved = await askForApproval(change, nameRequest);
  if (isApproved && nameRequest === undefined) {
    // Another client may have protected the branch, or moved the compute, since the lists were loaded. A question can stay open.
    await refreshed;
    if (guards.now() - askedAt > LISTS_MAX_AGE) await guards.refreshProtection(change);
    requireUnchanged();
    const later = nameRequestText(guards, change);
    isApproved = later === undefined || (await confirmByName(change, later));
  }
  if (isApproved) requireUnchanged();
  return isApproved;
}

/** The consequences, with that an open psql loses its connection. */
export function detailWithPsql({ detail, drops = [], reconnects }: ApprovalRequest): string | undefined {
  const psql = droppedPsqlText(drops, reconnects);
  return detail === undefined || psql === undefined ? detail : `${detail} ${psql}`;
}

/** Returns why the user has to enter the name, if so. */
function nameRequestText(guards: ChangeGuards, change: ApprovalRequest): string | undefined {
  const { byName = false } = change;
  const name = sanitize(change.name);
  if (guards.cachedMark(change) === 'production')
    return l10n.t('This is production. Enter “{0}” to continue.', name);
  if (!guards.isProtectionCached(change))
    return l10n.t("Couldn't check whether the branch is protected. Enter “{0}” to continue.", name);
  return byName ? l10n.t('Enter “{0}” to continue.', name) : undefined;
}

/** Returns why the user may not want the change; empty if there is no reason. */
export const consequencesText = ({ detail = '', isLoss = false }: ApprovalRequest): string =>
  isLoss ? lossText(detail) : detail;

/** @param nameRequest the text that asks the user to enter the name; undefined if that isn't necessary */
async function askForApproval(change: ApprovalRequest, nameRequest: string | undefined): Promise<boolean> {
  if (nameRequest !== undefined) return await confirmByName(change, nameRequest);
  const { question, detail, button, isLoss = false, isConfirmed = false } = change;
  if (detail === undefined || isConfirmed) return true;
  if (isLoss) return await askAboutLoss(question, detail, button);
  return (await window.ask(question, detail, button)) === button;
}

/** Asks again until the name is complete, or the user cancels. */
async function confirmByName(change: ApprovalRequest, nameRequest: string): Promise<boolean> {
  const { question } = change;
  const detail = consequencesText(change);
  // The user enters the name as it is shown, because sanitizing removes what can't be entered.
  const name = sanitize(change.name);
  for (;;) {
    const entered = await window.showInputBox({
      title: question,
      prompt: `${detail} ${nameRequest}`.trim(),
      placeHolder: name,
      ignoreFocusOut: true,
      // VS Code shows this instead of the prompt, so return nothing before there is a mistake.
      validateInput: (text) => (name.startsWith(text.trim()) ? undefined : nameRequest),
    });
    if (entered === undefined) return false;
    if (entered.trim() === name) return true;
  }
}
