/** Rotate API Key…: replaces the key of this window with a new one. */
import { l10n, ThemeIcon } from 'vscode';
import type { ApiKey } from '../../../api/records/records.ts';
import { MAX_SHORT_NAME_LENGTH } from '../../../api/rules/nameLength.ts';
import type { Account } from '../../account/accounts.ts';
import { rotateKey, type RotationDependencies, type RotationOutcome } from '../apiKeys/keyRotation.ts';
import { announce } from '../../window/ui/announce.ts';
import { requireWritable, type ApprovalRequest } from '../../operations/ui/approval.ts';
import { showRotationNotice } from '../ui/rotationNotice.ts';
import { accountLabel } from '../../account/ui/accountLabel.ts';
import { timeAgo } from '../../window/ui/timeText.ts';
import { asSentence, explainError } from '../../window/ui/errorMessage.ts';
import { displayName, sanitize } from '../../../base/sanitize.ts';
import { makeChange } from '../../commandSupport/change.ts';
import type { Command, CommandContext } from '../../commandSupport/context.ts';
import { askInSteps, type Question } from '../../window/ui/input/multiStepInput.ts';
import { enterText, nameProblem, pickOne, type Choice } from '../../window/ui/input/quickInput.ts';
import { explainMissingKeyAccess } from './apiKey.ts';
import { offerToRevoke } from './revokeOldKey.ts';

export const rotateApiKey: Command = async (context, _argument, run) => {
  const connection = context.session.requireConnection();
  run.failureMessage = l10n.t("Couldn't rotate the API key");
  const { account } = connection;
  requireWritable(context.guards, {});
  await explainMissingKeyAccess(() => context.apiKeys.load());
  const answers = await askForRotation(context);
  if (answers === undefined) return;
  const { old, name } = answers;
  const outcome = await makeChange(context, run, {
    ...rotationApproval(old, name),
    button: l10n.t('Rotate'),
    progress: l10n.t('Rotating the API key'),
    send: async (options) => {
      const storedKey = await context.accounts.key(account);
      if (storedKey === undefined || !connection.hasKey(storedKey))
        throw new Error(l10n.t('The key was changed in another window.'));
      const keys = { newName: name, oldKey: old ?? undefined };
      return await rotateKey(rotationDependencies(context, account), connection, keys, options);
    },
  });
  if (outcome === undefined) return;
  await context.apiKeys.refresh().catch(() => undefined); // The view shows the failure.
  switch (outcome.kind) {
    case 'rotated':
      return announce(l10n.t('This window now uses API key “{0}”', sanitize(name)));
    case 'unchanged':
      throw unchangedKeyError(outcome);
    case 'notRevoked':
      context.log.error('Revoking the old API key', outcome.error);
      return void offerToRevoke(context, run, outcome.record);
    case 'unknown':
      context.log.error('Rotating an API key', outcome.error);
      return void showRotationNotice(context.rotationRecords, outcome.record, outcome.error);
    default:
      return outcome satisfies never;
  }
};

function rotationDependencies(context: CommandContext, account: Account): RotationDependencies {
  const { accounts, openClient, localService, log, config, rotationRecords } = context;
  return {
    accounts: {
      key: (rotated) => accounts.key(rotated),
      async replaceKey(rotated, created) {
        await accounts.replaceKey(rotated, created);
        if (rotated.local === true) await localService.replaceKey(created.key);
      },
    },
    openClient,
    organizationId: config.organizationOf(account),
    records: rotationRecords,
    accountLabel: accountLabel(account),
    onSecret: (key) => log.addSecret(key),
  };
}

/**
 * Returns the error of a rotation after which the window still uses its old key. If no key could be created, this is the error
 * itself. Otherwise, it says that the new key doesn't work or couldn't be stored.
 */
export function unchangedKeyError({
  step,
  error,
}: Extract<RotationOutcome, { readonly kind: 'unchanged' }>): unknown {
  if (step === 'create') return error;
  const { message } = explainError(error);
  const reason =
    step === 'test'
      ? l10n.t("The new key doesn't work. {0}", message)
      : l10n.t("The new key couldn't be stored. {0}", message);
  return new Error(`${asSentence(reason)} ${l10n.t('This window keeps using its old key.')}`);
}

interface RotationAnswers {
  /** The key to revoke; null if the user isn't sure which one, so that all are kept. */
  readonly old: ApiKey | null;
  readonly name: string;
}

async function askForRotation({ apiKeys }: CommandContext): Promise<RotationAnswers | undefined> {
  const { keys } = apiKeys;
  const inUse = keys.find(({ id }) => apiKeys.isInUse(id));
  return await askInSteps(l10n.t('Rotate API Key'), async (ask) => {
    const old = inUse ?? (await ask(oldKeyQuestion(keys), { following: 1 }));
    const name = await ask(keyNameQuestion(keys, old?.name));
    return { old, name };
  });
}

/** The most recently used key comes first: it is probably this window's, which has just listed the keys. */
function oldKeyQuestion(keys: readonly ApiKey[]): Question<ApiKey | null> {
  const lastUseTime = ({ last_used_at }: ApiKey) => Date.parse(last_used_at ?? '') || 0;
  const items: Choice<ApiKey | null>[] = keys
    .toSorted((a, b) => lastUseTime(b) - lastUseTime(a))
    .map((key) => ({
      label: displayName(key),
      iconPath: new ThemeIcon('key'),
      description: [
        key.last_used_at ? l10n.t('used {0}', timeAgo(key.last_used_at)) : l10n.t('never used'),
        `#${key.id}`,
      ].join(' · '),
      value: key,
    }));
  items.push({ label: l10n.t('Not sure. Keep all keys'), value: null });
  const placeholder = l10n.t('Which key does this window use? It is revoked after the rotation');
  return pickOne({ placeholder, items });
}

/** The name must be unique: it identifies the new key if the rotation is interrupted. */
function keyNameQuestion(keys: readonly ApiKey[], old = ''): Question<string> {
  const isTaken = (text: string) => keys.some(({ name }) => name === text);
  return enterText({
    prompt: l10n.t('Name of the new key'),
    value: nextName(old, isTaken),
    problem: (text) =>
      isTaken(text) ? l10n.t('Another key already has this name') : nameProblem(text, MAX_SHORT_NAME_LENGTH),
  });
}

/** Returns the next name: “laptop” becomes “laptop 2”, then “laptop 3”. */
function nextName(old: string, isTaken: (name: string) => boolean): string {
  const base = old.replace(/ \d{1,6}$/, '');
  let next = old;
  for (let number = 2; isTaken(next); number += 1) next = `${base} ${number}`;
  return next;
}

/** Returns what the user approves. A rotation has consequences only if it revokes a key. */
function rotationApproval(
  old: ApiKey | null,
  name: string,
): Pick<ApprovalRequest, 'name' | 'question' | 'detail' | 'isLoss'> {
  if (old === null) return { name, question: l10n.t('Rotate the API key?') };
  const oldName = displayName(old);
  const detail = l10n.t(
    'A new key is created, tested and stored for this window. Then “{0}” is revoked. Other programs that use it lose access.',
    oldName,
  );
  return { name: oldName, question: l10n.t('Rotate API key “{0}”?', oldName), isLoss: true, detail };
}
