/** Rotate API Key…: a new key in the place of the one this window uses. */
import { l10n, type QuickPickItem } from 'vscode';
import type { ApiKey } from '../../../api/records/records.ts';
import { accountId } from '../../../model/account/accounts.ts';
import { rotateKey } from '../../../model/account/keyRotation.ts';
import { announce } from '../../notifications/announce.ts';
import { ago } from '../../text/durationText.ts';
import { sanitize } from '../../text/sanitize.ts';
import { requireConnection } from '../input/pickers.ts';
import { confirm } from '../input/confirm.ts';
import type { Command, CommandContext } from '../context.ts';
import { answered, runFlow, type Answer, type Page } from '../input/multiStepInput.ts';
import { withKeyRights } from './requireKeyAccess.ts';
import { withProgress } from '../input/progress.ts';
import { askText, pickOne } from '../input/quickInput.ts';
import { isFreeToRotate, offer, rotationParts } from './rotationRecovery.ts';
import { endedText } from './rotationText.ts';

export const rotate: Command = async (context, _argument, run) => {
  const connection = requireConnection(context);
  run.couldNot = l10n.t('Could not rotate the API key');
  const { account } = connection;
  if (!(await isFreeToRotate(context, account))) return;
  await withKeyRights(() => context.apiKeys.load());
  const wanted = await askForRotation(context);
  if (wanted === undefined || !(await confirmRotation(wanted.old))) return;
  const { name, old } = wanted;
  const keys = { name, oldKey: old && { id: old.id, name: old.name } };
  const outcome = await withProgress(l10n.t('Rotating the API key'), (options) =>
    rotateKey(rotationParts(context), connection, keys, options),
  );
  await context.apiKeys.refresh().catch(() => undefined); // The list tells its failure itself.
  switch (outcome.kind) {
    case 'rotated':
      return announce(l10n.t('This window now uses the API key “{0}”', sanitize(name)));
    case 'taken':
    case 'busy':
    case 'changed':
    case 'unchanged':
      throw new Error(endedText(outcome));
    default:
      offer(context, { account: accountId(account), ...keys }, outcome);
  }
};

interface Known {
  /** The key this window uses; null when the user does not know, so that none is revoked. */
  readonly old?: ApiKey | null | undefined;
  readonly name?: string;
}

interface Wanted {
  readonly old: ApiKey | undefined;
  readonly name: string;
}

async function askForRotation({ apiKeys }: CommandContext): Promise<Wanted | undefined> {
  const start: Known = { old: apiKeys.keys.find(({ id }) => apiKeys.isInUse(id)) };
  const known = await runFlow<Known>(l10n.t('Rotate API Key'), start, [
    {
      applies: ({ old }) => old === undefined,
      ask: async (page, before) => answered(await askOld(page, apiKeys.keys), (old) => ({ ...before, old })),
    },
    {
      ask: async (page, before) =>
        answered(await askName(page, apiKeys.keys, before.old?.name), (name) => ({
          ...before,
          name: name.trim(),
        })),
    },
  ]);
  return known?.name === undefined ? undefined : { old: known.old ?? undefined, name: known.name };
}

interface KeyItem extends QuickPickItem {
  readonly key: ApiKey | null;
}

/** The one used last comes first: the list itself was just asked for with it. */
async function askOld(page: Page, keys: readonly ApiKey[]): Promise<Answer<ApiKey | null>> {
  const lastUse = ({ last_used_at }: ApiKey) => Date.parse(last_used_at ?? '') || 0;
  const items: KeyItem[] = keys
    .toSorted((a, b) => lastUse(b) - lastUse(a))
    .map((key) => ({
      label: `$(key) ${sanitize(key.name) || String(key.id)}`,
      description: [
        key.last_used_at ? l10n.t('used {0}', ago(key.last_used_at)) : l10n.t('never used'),
        `#${key.id}`,
      ].join(' · '),
      key,
    }));
  items.push({ label: l10n.t('I do not know: revoke none'), key: null });
  const placeholder = l10n.t('Which key does this window use? It is revoked when the new one is in place');
  return answered(await pickOne(page, { placeholder, items }), ({ key }) => key);
}

/** The name must be unique: it identifies the new key when the answer with its id is lost. */
function askName(page: Page, keys: readonly ApiKey[], old = ''): Promise<Answer<string>> {
  const isTaken = (text: string) => keys.some(({ name }) => name === text);
  return askText(page, {
    prompt: l10n.t('A name for the new key'),
    value: nextName(old, isTaken),
    problem: (text) => {
      if (text.trim() === '') return l10n.t('Must not be empty');
      return isTaken(text.trim()) ? l10n.t('Another key has this name') : undefined;
    },
  });
}

/** “laptop” becomes “laptop 2”, and that “laptop 3”. */
function nextName(old: string, isTaken: (name: string) => boolean): string {
  const base = old.replace(/ \d{1,6}$/, '');
  let next = old;
  for (let number = 2; isTaken(next); number += 1) next = `${base} ${number}`;
  return next;
}

/** Nothing to ask where no key is revoked. */
async function confirmRotation(old: ApiKey | undefined): Promise<boolean> {
  if (old === undefined) return true;
  const detail = l10n.t(
    'A new key is created, tried and stored for this window. Then “{0}” is revoked at once and for good: whatever else uses it is refused.',
    sanitize(old.name),
  );
  return await confirm(l10n.t('Rotate the API key “{0}”?', sanitize(old.name)), detail, l10n.t('Rotate'));
}
