/** Messages about rotations: why one failed, which key is in use, and which other keys exist. */
import { l10n } from 'vscode';
import type { ExistingKey, RotationOutcome } from '../../../model/account/keyRotation.ts';
import type { PendingRotation } from '../../../model/account/pendingRotations.ts';
import { explainError } from '../../text/errorMessage.ts';
import { sanitize } from '../../text/sanitize.ts';

/** These left no key behind. */
export type Ended = Extract<RotationOutcome, { readonly kind: 'taken' | 'busy' | 'changed' | 'unchanged' }>;
/** These may have left a key behind. */
export type Left = Exclude<RotationOutcome, Ended | { readonly kind: 'rotated' }>;

export function endedText(outcome: Ended): string {
  switch (outcome.kind) {
    case 'taken':
      return l10n.t('There is already a key with this name. Choose another name.');
    case 'busy':
      return l10n.t('An earlier rotation of this key is still in progress.');
    case 'changed':
      return l10n.t('The key was changed in another window.');
    case 'unchanged':
      return `${stepText(outcome.step, explainError(outcome.error).message)} ${l10n.t('This window keeps using its old key.')}`;
    default:
      return outcome satisfies never;
  }
}

function stepText(step: 'create' | 'test' | 'store', reason: string): string {
  switch (step) {
    case 'create':
      return l10n.t('No new key was created. {0}', reason);
    case 'test':
      return l10n.t("The new key doesn't work. {0}", reason);
    case 'store':
      return l10n.t("The new key couldn't be stored. {0}", reason);
    default:
      return step satisfies never;
  }
}

/** Which keys exist. Starts with the reason if there is one; an interrupted rotation has none. */
export function leftText(outcome: Left, rotation: PendingRotation): string {
  const error = outcome.kind === 'signedOut' ? undefined : outcome.error;
  const reason =
    error === undefined
      ? l10n.t('An API key rotation was interrupted.')
      : l10n.t('{0}: {1}', l10n.t("Couldn't rotate the API key"), explainError(error).message);
  return `${reason} ${keysText(outcome, rotation)}`;
}

function keysText(outcome: Left, { account, name, oldKey }: PendingRotation): string {
  switch (outcome.kind) {
    case 'absent':
      return l10n.t('No new key was found. The old key is still in use.');
    case 'lost':
      return l10n.t(
        'The new key {0} exists, but its value was lost. The old key is still in use.',
        named(outcome.newKey),
      );
    case 'signedOut':
      return l10n.t(
        "A new key “{0}” may exist. This couldn't be checked, because no key is stored for {1}.",
        sanitize(name),
        sanitize(account),
      );
    case 'unfinished': {
      const newKey = named(outcome.newKey);
      if (outcome.step === 'create') return l10n.t('A new key {0} may exist.', newKey);
      if (outcome.step !== 'revoke') return l10n.t("The new key {0} exists but isn't in use yet.", newKey);
      const old = oldKey === undefined ? '' : named(oldKey);
      return l10n.t('The new key {0} is in use, and the old key {1} may still be valid.', newKey, old);
    }
    default:
      return outcome satisfies never;
  }
}

/** After an interrupted rotation. */
export function finishedText(newKey: ExistingKey, { oldKey }: PendingRotation): string {
  const message = l10n.t(
    'Finished an interrupted API key rotation. The new key {0} is in use.',
    named(newKey),
  );
  return oldKey === undefined
    ? message
    : `${message} ${l10n.t('Revoked API key “{0}”', sanitize(oldKey.name))}.`;
}

const named = ({ id, name }: ExistingKey): string =>
  id === undefined ? `“${sanitize(name)}”` : `“${sanitize(name)}” (#${id})`;
