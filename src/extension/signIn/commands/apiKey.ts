/** Create and revoke API keys. The value of a new key goes from the response to the clipboard and nowhere else. */
import { l10n } from 'vscode';
import { MAX_SHORT_NAME_LENGTH } from '../../../api/rules/nameLength.ts';
import { isRejected } from '../../../api/transport/errors.ts';
import type { Account } from '../../account/accounts.ts';
import { asApiKeyNode } from '../../inventory/nodes.ts';
import { announce } from '../../window/ui/announce.ts';
import { requireWritable, type ApprovalRequest } from '../../operations/ui/approval.ts';
import { nameOrId, sanitize } from '../../../base/sanitize.ts';
import { makeChange, neighborId } from '../../commandSupport/change.ts';
import type { Command, CommandContext, CommandRun } from '../../commandSupport/context.ts';
import { showSecret } from '../../window/ui/input/dialogs.ts';
import { singleStep } from '../../window/ui/input/multiStepInput.ts';
import { enterText, nameProblem, pickOne } from '../../window/ui/input/quickInput.ts';

/** Runs a call. Explains the 403 that keys of organizations get. @throws {Error} with a message for the user */
export async function explainMissingKeyAccess<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!isRejected(error, 403)) throw error;
    throw new Error(
      l10n.t(
        "The key of this window can't create or revoke API keys. It may belong to an organization. Use a personal key.",
      ),
    );
  }
}

export const createApiKey: Command = async (context, _argument, run) => {
  context.session.requireConnection();
  run.failureMessage = l10n.t("Couldn't create the API key");
  requireWritable(context.guards, {});
  // A failure that is already known is reported before the question, not after it.
  if (isRejected(context.apiKeys.failure, 403))
    await explainMissingKeyAccess(() => context.apiKeys.refresh());
  const prompt = l10n.t('Name of the key, such as where you use it');
  const problem = (text: string) => nameProblem(text, MAX_SHORT_NAME_LENGTH);
  const name = await singleStep(l10n.t('Create API Key'), enterText({ prompt, problem }));
  if (name === undefined) return;
  const created = await makeChange(context, run, {
    name,
    question: l10n.t('Create API key “{0}”?', sanitize(name)),
    button: l10n.t('Create'),
    progress: l10n.t('Creating an API key'),
    send: (options) => explainMissingKeyAccess(() => context.apiKeys.create(name, options)),
  });
  if (created === undefined) return;
  const { key } = created;
  context.log.addSecret(key);
  const detail = l10n.t(
    'This is the only time the key is shown. Store it in a safe place, such as a password manager.\n\n{0}',
    key,
  );
  const done = l10n.t('Copied API key “{0}”', sanitize(name));
  const copy = { button: l10n.t('Copy Key'), secret: key, done };
  await showSecret(l10n.t('Created API key “{0}”', sanitize(name)), detail, copy);
  // A view that isn't shown would take the focus from where the user pastes the key.
  if (context.apiKeysView.view.visible) await revealKey(context, created.id);
};

export const revokeApiKey: Command = async (context, argument, run) => {
  context.session.requireConnection();
  run.failureMessage = l10n.t("Couldn't revoke the API key");
  const row = asApiKeyNode(argument);
  const id = row?.keyId ?? (await pickKey(context));
  if (id !== undefined) await revokeKey(context, run, id, { isRow: row !== undefined });
};

interface RevokeOptions extends Pick<ApprovalRequest, 'isConfirmed'> {
  /** Whether the user chose the key's row, which may have the keyboard focus. */
  readonly isRow?: boolean;
}

export async function revokeKey(
  context: CommandContext,
  run: CommandRun,
  id: number,
  { isConfirmed = false, isRow = false }: RevokeOptions = {},
): Promise<void> {
  const connection = context.session.requireConnection();
  const { apiKeys } = context;
  const name = nameOrId(apiKeys.key(id)?.name, String(id));
  run.failureMessage = l10n.t("Couldn't revoke “{0}”", name);
  const isInUse = apiKeys.isInUse(id);
  const revoked = await makeChange(context, run, {
    name,
    isConfirmed,
    question: l10n.t('Revoke API key “{0}”?', name),
    isLoss: true,
    detail: revocationDetail(context, isInUse),
    button: l10n.t('Revoke'),
    progress: l10n.t('Revoking “{0}”', name),
    send: async (options) => {
      const neighbor = isRow ? neighborId(apiKeys.keys, id) : undefined;
      // Another row is selected, as for a deleted compute, so that the keyboard focus stays near.
      if (neighbor !== undefined) void revealKey(context, neighbor);
      await apiKeys.revoke(id, options);
      // If the list then fails with a 401, the revoked key was the one in use, even if that wasn't known.
      return { wasInUse: isInUse || isRejected(apiKeys.failure, 401) };
    },
    done: ({ wasInUse }) => (wasInUse ? undefined : l10n.t('Revoked API key “{0}”', name)),
  });
  if (revoked?.wasInUse === true) await signOut(context, connection.account);
}

/** Selects the key's row. Never rejects, because the change is made even if the row can't be shown. */
async function revealKey(
  { apiKeysView, log }: Pick<CommandContext, 'apiKeysView' | 'log'>,
  id: number,
): Promise<void> {
  await apiKeysView.reveal(id).catch((error: unknown) => log.error('Revealing an API key', error));
}

function revocationDetail({ apiKeys, session }: CommandContext, isInUse: boolean): string {
  const sentences = [l10n.t('Programs that use the key lose access at once.')];
  if (isInUse) sentences.push(l10n.t('This window uses the key and will be signed out.'));
  else if (!apiKeys.isUseKnown) sentences.push(l10n.t('If this window uses the key, it will be signed out.'));
  if (isInUse && session.connection?.account.local === true)
    sentences.push(l10n.t('The local service stops and gets a new key the next time it starts.'));
  return sentences.join(' ');
}

/** Removes the account, or for the local service only its key, after the key was revoked. */
async function signOut({ accounts, localService }: CommandContext, account: Account): Promise<void> {
  if (account.local === true) await localService.forgetKey();
  else await accounts.remove(account);
  announce(l10n.t('Signed out, because the key of this window was revoked'), 'info');
}

async function pickKey({ apiKeys }: CommandContext): Promise<number | undefined> {
  const items = async () => {
    await explainMissingKeyAccess(() => apiKeys.load());
    return apiKeys.keys.map(({ id, name }) => ({
      label: nameOrId(name, String(id)),
      description: String(id),
      value: id,
    }));
  };
  const placeholder = l10n.t('Select an API key');
  return await singleStep(l10n.t('Revoke API Key'), pickOne({ placeholder, items }));
}
