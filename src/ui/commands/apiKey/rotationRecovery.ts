/** Finishes rotations that were interrupted or failed, or offers the action that helps. */
import { commands, l10n } from 'vscode';
import { accountId, type Account } from '../../../model/account/accounts.ts';
import {
  resumeRotation,
  revokeLost,
  type RotationOutcome,
  type RotationParts,
} from '../../../model/account/keyRotation.ts';
import type { PendingRotation } from '../../../model/account/pendingRotations.ts';
import { announce } from '../../notifications/announce.ts';
import { readOnlyError } from '../../notifications/approval.ts';
import { showFailure } from '../../notifications/notify.ts';
import { sanitize } from '../../text/sanitize.ts';
import type { CommandContext } from '../context.ts';
import { withProgress } from '../input/dialogs.ts';
import { endedText, finishedText, leftText, type Left } from './rotationText.ts';
import { window } from '../../window.ts';

/** Milliseconds. By then the service has carried out a request whose response was lost, or never will. */
const LATEST_CREATION = 60_000;

export const rotationParts = (context: CommandContext): RotationParts => {
  const { accounts, openClient, localService, log, config, rotations } = context;
  return {
    accounts: {
      list: () => accounts.list(),
      key: (of) => accounts.key(of),
      newKey: (of) => accounts.newKey(of),
      keepNewKey: (of, created) => accounts.keepNewKey(of, created),
      forgetNewKey: (of) => accounts.forgetNewKey(of),
      replaceKey: async (of: Account, created) => {
        if (of.local === true) await localService.replaceKey(created.key);
        await accounts.replaceKey(of, created);
      },
    },
    pending: rotations,
    openClient,
    organizationId: (of) => config.organizationOf(of),
    onSecret: (value) => log.addSecret(value),
  };
};

/** Finishes rotations that earlier windows left, unless the account is marked as read-only. Never rejects. */
export async function finishRotations(context: CommandContext): Promise<void> {
  const finish = async (account: string) => {
    // If this fails, `finishRotation` fails as well and shows why.
    const isKept = await isReadOnly(context, account).catch(() => false);
    if (!isKept) await finishRotation(context, account);
  };
  await Promise.all(context.rotations.accounts.map(finish));
}

/** Whether the user has marked the account of a rotation as read-only. The rotation is then left pending. */
export async function isReadOnly(
  { accounts, guards }: Pick<CommandContext, 'accounts' | 'guards'>,
  id: string,
): Promise<boolean> {
  const list = await accounts.list();
  return list.accounts.some(
    (account) => accountId(account) === id && guards.ofAccount(account) === 'readOnly',
  );
}

/** @throws {ReadOnlyError} */
async function requireWritableAccount(context: CommandContext, id: string): Promise<void> {
  if (await isReadOnly(context, id)) throw readOnlyError(context.guards, {});
}

/** Waits until no other window works on the rotation, then finishes it. Never rejects. */
export async function finishRotation(context: CommandContext, account: string): Promise<void> {
  try {
    await requireWritableAccount(context, account);
    const rotation = await abandoned(context, account);
    if (rotation !== undefined) show(context, rotation, await resume(context, rotation));
  } catch (error) {
    context.log.error('Finishing a key rotation', error);
    void showFailure(failureMessage(), error, () => void finishRotation(context, account));
  }
}

/** Takes some seconds if there is a rotation. */
async function abandoned(context: CommandContext, account: string): Promise<PendingRotation | undefined> {
  if (context.rotations.of(account) === undefined) return undefined;
  return await withProgress(l10n.t('Rotating the API key'), () => context.rotations.abandoned(account));
}

const failureMessage = () => l10n.t("Couldn't rotate the API key");

async function resume(context: CommandContext, rotation: PendingRotation): Promise<RotationOutcome> {
  const outcome = await withProgress(l10n.t('Rotating the API key'), () =>
    resumeRotation(rotationParts(context), rotation),
  );
  void context.apiKeys.refresh().catch(() => undefined); // The list shows its failure itself.
  return outcome;
}

function show(context: CommandContext, rotation: PendingRotation, outcome: RotationOutcome): void {
  switch (outcome.kind) {
    case 'rotated':
      return void window.showInformationMessage(finishedText(outcome.newKey, rotation));
    case 'taken':
    case 'busy':
    case 'changed':
    case 'unchanged':
      return void window.showWarningMessage(`${failureMessage()}: ${endedText(outcome)}`);
    default:
      offerRecovery(context, rotation, outcome);
  }
}

/** Offers the action that finishes the rotation, which stays pending until then. */
export function offerRecovery(context: CommandContext, rotation: PendingRotation, left: Left): void {
  const onError = (error: unknown) => context.log.error('Finishing a key rotation', error);
  if (left.kind === 'absent') checkLater(context, rotation.account).catch(onError);
  showOffer(context, rotation, left).catch(onError);
}

async function showOffer(context: CommandContext, rotation: PendingRotation, left: Left): Promise<void> {
  const { account } = rotation;
  const { label, act } = actionFor(context, rotation, left);
  const chosen = await window.showWarningMessage(leftText(left, rotation), label);
  // Another window may have finished it.
  const isPending = context.rotations.of(account) !== undefined;
  if (chosen === label && (isPending || left.kind === 'absent')) await act();
  if (chosen === undefined && left.kind === 'signedOut') await context.rotations.forget(account);
}

interface Action {
  readonly label: string;
  readonly act: () => Promise<unknown>;
}

function actionFor(context: CommandContext, rotation: PendingRotation, left: Left): Action {
  const run = async (command: string) => await commands.executeCommand(command);
  switch (left.kind) {
    case 'absent':
      return { label: l10n.t('Rotate API Key…'), act: () => run('hostedPostgres.apiKey.rotate') };
    case 'lost': {
      const { id, name } = left.newKey;
      return {
        label: l10n.t('Revoke “{0}”', sanitize(name)),
        act: () => revokeLeftKey(context, rotation, id),
      };
    }
    case 'signedOut':
      return { label: l10n.t('Connect…'), act: () => run('hostedPostgres.account.connect') };
    case 'unfinished':
      return { label: l10n.t('Try Again'), act: () => finishRotation(context, rotation.account) };
    default:
      return left satisfies never;
  }
}

async function revokeLeftKey(context: CommandContext, rotation: PendingRotation, id: number): Promise<void> {
  const name = sanitize(rotation.name);
  try {
    await requireWritableAccount(context, rotation.account);
    await withProgress(l10n.t('Revoking “{0}”', name), () =>
      revokeLost(rotationParts(context), rotation, id),
    );
    announce(l10n.t('Revoked API key “{0}”', name));
    await context.apiKeys.refresh().catch(() => undefined);
  } catch (error) {
    context.log.error('Revoking a key that a rotation left', error);
    const retry = () => void revokeLeftKey(context, rotation, id);
    await showFailure(l10n.t("Couldn't revoke “{0}”", name), error, retry);
  }
}

/** The service may carry out the request after the first check. */
async function checkLater(context: CommandContext, account: string): Promise<void> {
  const rotation = await context.rotations.abandoned(account, LATEST_CREATION);
  if (rotation === undefined || (await isReadOnly(context, account))) return;
  const outcome = await resumeRotation(rotationParts(context), rotation);
  if (outcome.kind === 'absent') await context.rotations.forget(account);
  else show(context, rotation, outcome);
}

/** Finishes an earlier rotation of the account. @returns whether a new one can start */
export async function isFreeToRotate(context: CommandContext, account: Account): Promise<boolean> {
  const earlier = await abandoned(context, accountId(account));
  if (earlier === undefined) return true;
  const outcome = await resume(context, earlier);
  if (outcome.kind !== 'absent') {
    show(context, earlier, outcome);
    return false;
  }
  await context.rotations.forget(earlier.account);
  return true;
}
