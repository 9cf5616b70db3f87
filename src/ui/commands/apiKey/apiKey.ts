/** Create and revoke API keys. A key's value passes from the service's answer to the clipboard and nowhere else. */
import { env, l10n, window, type QuickPickItem } from 'vscode';
import { isRefused } from '../../../api/errors.ts';
import type { CreatedApiKey } from '../../../api/records/records.ts';
import type { Account } from '../../../model/account/accounts.ts';
import { asApiKeyNode } from '../../../model/inventory/nodes.ts';
import { announce } from '../../notifications/announce.ts';
import { sanitize } from '../../text/sanitize.ts';
import { requireConnection } from '../input/pickers.ts';
import { confirm } from '../input/confirm.ts';
import type { Command, CommandContext } from '../context.ts';
import { withKeyRights } from './requireKeyAccess.ts';
import { withProgress } from '../input/progress.ts';
import { askText, pickOne } from '../input/quickInput.ts';

const alone = (title: string) => ({ title, step: 1, steps: 1, canGoBack: false });

export const create: Command = async (context, _argument, run) => {
  requireConnection(context);
  run.couldNot = l10n.t('Could not create the API key');
  // Known to be refused: nobody is asked for a name in vain.
  if (isRefused(context.apiKeys.failure, 403)) await withKeyRights(() => context.apiKeys.refresh());
  const name = await askText(alone(l10n.t('Create API Key')), {
    prompt: l10n.t('A name that tells where the key is used'),
    problem: (text) => (text.trim() === '' ? l10n.t('Must not be empty') : undefined),
  });
  if (typeof name !== 'string') return;
  const created = await withProgress(l10n.t('Creating an API key'), (options) =>
    withKeyRights(() => context.apiKeys.create(name.trim(), options)),
  );
  context.log.addSecret(created.key);
  await showOnce(name.trim(), created);
};

/** Modal, so that it cannot go unseen: the service tells the value this once (section 2.2). */
async function showOnce(name: string, { key }: CreatedApiKey): Promise<void> {
  const copy = { title: l10n.t('Copy Key') };
  // VS Code's own “Cancel” would promise that no key was created.
  const close = { title: l10n.t('Close'), isCloseAffordance: true };
  const detail = l10n.t(
    '{0}\n\nThis is the only time the key is shown. Keep it where secrets are kept.',
    key,
  );
  const chosen = await window.showInformationMessage(
    l10n.t('The API key “{0}” was created', sanitize(name)),
    { modal: true, detail },
    copy,
    close,
  );
  if (chosen !== copy) return;
  await env.clipboard.writeText(key);
  announce(l10n.t('Copied the API key “{0}”', sanitize(name)));
}

export const revoke: Command = async (context, argument, run) => {
  requireConnection(context);
  run.couldNot = l10n.t('Could not revoke the API key');
  const { apiKeys, session } = context;
  const id = asApiKeyNode(argument)?.keyId ?? (await pickKey(context));
  if (id === undefined) return;
  const name = sanitize(apiKeys.key(id)?.name ?? String(id));
  run.couldNot = l10n.t('Could not revoke “{0}”', name);
  const isOurs = apiKeys.isInUse(id);
  const question = l10n.t('Revoke the API key “{0}”?', name);
  if (!(await confirm(question, revocationDetail(context, isOurs), l10n.t('Revoke')))) return;
  const account = session.connection?.account;
  await withProgress(l10n.t('Revoking “{0}”', name), (options) => apiKeys.revoke(id, options));
  // Refused right after: it was the key in use, known as such or not.
  const wasOurs = isOurs || isRefused(apiKeys.failure, 401);
  if (wasOurs && account !== undefined) await signOut(context, account);
  else announce(l10n.t('The API key “{0}” is revoked', name));
};

function revocationDetail({ apiKeys, session }: CommandContext, isOurs: boolean): string {
  const always = l10n.t(
    'This takes effect at once and cannot be undone: whatever still uses the key is refused.',
  );
  if (!isOurs && apiKeys.isUseKnown) return always;
  const sentences = [always];
  if (isOurs) sentences.unshift(l10n.t('This window uses the key and is signed out with it.'));
  else sentences.push(l10n.t('If this window uses the key, it is signed out with it.'));
  if (session.connection?.account.local === true && isOurs)
    sentences.push(l10n.t('The local service stops, and starts with a new key the next time.'));
  return sentences.join(' ');
}

/** Forgets a key that is no longer accepted. */
async function signOut({ accounts, localService }: CommandContext, account: Account): Promise<void> {
  if (account.local === true) await localService.forgetKey();
  else await accounts.remove(account);
  announce(l10n.t('Signed out: the key this window used is revoked'), 'info');
}

interface KeyItem extends QuickPickItem {
  readonly id: number;
}

async function pickKey({ apiKeys }: CommandContext): Promise<number | undefined> {
  const items = async (): Promise<KeyItem[]> => {
    await withKeyRights(() => apiKeys.load());
    return apiKeys.keys.map(({ id, name }) => ({ label: sanitize(name), description: String(id), id }));
  };
  const picked = await pickOne(alone(l10n.t('Revoke API Key')), {
    placeholder: l10n.t('API key'),
    items: items(),
  });
  return typeof picked === 'object' ? picked.id : undefined;
}
