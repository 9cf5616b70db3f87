/** What became of a rotation that failed: why, which key this window uses, and which keys exist besides. */
import { l10n } from 'vscode';
import type { ApiKey } from '../../api/records.ts';
import type { ExistingKey, RotationOutcome } from '../../model/keyRotation.ts';
import { explainError } from '../text/errorMessage.ts';
import { sanitize } from '../text/sanitize.ts';

type Failure = Exclude<RotationOutcome, { readonly kind: 'rotated' }>;

/** @param old the key that was to be revoked, where one was */
export function rotationFailure(failure: Failure, old: ApiKey | undefined): Error {
  const reason = explainError(failure.error).message;
  if (failure.kind === 'revoke') return new Error([reason, stillValid(failure.newKey, old)].join(' '));
  const sentences = [whatFailed(failure.kind, reason), l10n.t('This window goes on with its old key.')];
  if (failure.left !== undefined) sentences.push(leftOver(failure.left));
  return new Error(sentences.join(' '));
}

function whatFailed(kind: 'create' | 'prove' | 'store', reason: string): string {
  switch (kind) {
    case 'create':
      return l10n.t('no new key was created. {0}', reason);
    case 'prove':
      return l10n.t('the new key does not work. {0}', reason);
    case 'store':
      return l10n.t('the new key could not be stored. {0}', reason);
    default:
      return kind satisfies never;
  }
}

const stillValid = (newKey: ExistingKey, old: ApiKey | undefined): string =>
  l10n.t(
    'This window uses the new key {0}, and the old key {1} may still be valid: revoke it in the API Keys view.',
    named(newKey),
    old === undefined ? '' : named(old),
  );

function leftOver(key: ExistingKey): string {
  return key.id === undefined
    ? l10n.t('A key {0} may exist whose value nobody knows: revoke it in the API Keys view.', named(key))
    : l10n.t('The key {0} exists besides: revoke it in the API Keys view.', named(key));
}

const named = ({ id, name }: ExistingKey): string =>
  id === undefined ? `“${sanitize(name)}”` : `“${sanitize(name)}” (#${id})`;
