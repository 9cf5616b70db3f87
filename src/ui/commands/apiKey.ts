/** Create and revoke API keys. A key's value passes from the service's answer to the clipboard and nowhere else. */
import { env, l10n, window, type QuickPickItem } from 'vscode';
import type { CreatedApiKey } from '../../api/records.ts';
import { asApiKeyNode } from '../../model/nodes.ts';
import { plain } from '../plain.ts';
import { requireConnection } from './choose.ts';
import { confirm } from './confirm.ts';
import type { Command, CommandContext } from './context.ts';
import { withProgress } from './progress.ts';
import { askText, pickOne } from './quickInput.ts';

const alone = (title: string) => ({ title, step: 1, steps: 1, canGoBack: false });

export const create: Command = async (context, _argument, run) => {
  requireConnection(context);
  run.couldNot = l10n.t('Could not create the API key');
  const name = await askText(alone(l10n.t('Create API Key')), {
    prompt: l10n.t('A name that tells where the key is used'),
    problem: (text) => (text.trim() === '' ? l10n.t('Must not be empty') : undefined),
  });
  if (typeof name !== 'string') return;
  const created = await withProgress(l10n.t('Creating an API key'), (options) =>
    context.apiKeys.create(name.trim(), options),
  );
  context.log.keepOut(created.key);
  await showOnce(name.trim(), created);
};

/** Modal, so that it cannot go unseen: the service tells the value this once (section 2.2). */
async function showOnce(name: string, { key }: CreatedApiKey): Promise<void> {
  const copy = l10n.t('Copy Key');
  const detail = l10n.t(
    '{0}\n\nThis is the only time the key is shown. Keep it where secrets are kept.',
    key,
  );
  const chosen = await window.showInformationMessage(
    l10n.t('The API key “{0}” was created', plain(name)),
    { modal: true, detail },
    copy,
  );
  if (chosen === copy) await env.clipboard.writeText(key);
}

export const revoke: Command = async (context, argument, run) => {
  requireConnection(context);
  run.couldNot = l10n.t('Could not revoke the API key');
  const id = asApiKeyNode(argument)?.keyId ?? (await pickKey(context));
  if (id === undefined) return;
  const name = plain(context.apiKeys.key(id)?.name ?? String(id));
  run.couldNot = l10n.t('Could not revoke “{0}”', name);
  const detail = l10n.t(
    'This takes effect at once and cannot be undone: whatever still uses the key is refused.',
  );
  if (!(await confirm(l10n.t('Revoke the API key “{0}”?', name), detail, l10n.t('Revoke')))) return;
  await withProgress(l10n.t('Revoking “{0}”', name), (options) => context.apiKeys.revoke(id, options));
};

interface KeyItem extends QuickPickItem {
  readonly id: number;
}

async function pickKey({ apiKeys }: CommandContext): Promise<number | undefined> {
  const items = async (): Promise<KeyItem[]> => {
    await apiKeys.load();
    return apiKeys.keys.map(({ id, name }) => ({ label: plain(name), description: String(id), id }));
  };
  const picked = await pickOne(alone(l10n.t('Revoke API Key')), {
    placeholder: l10n.t('API key'),
    items: items(),
  });
  return typeof picked === 'object' ? picked.id : undefined;
}
