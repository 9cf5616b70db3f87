/** The questions of Connect…: which service, which account there, and its key, which the service is asked about. */
import { l10n, type QuickPickItem } from 'vscode';
import type { BaseUrl } from '../../../api/baseUrl.ts';
import { isCancelled } from '../../../api/errors.ts';
import { isSendableKey } from '../../../api/records/ids.ts';
import type { Account } from '../../../model/account/accounts.ts';
import { explainError } from '../../text/errorMessage.ts';
import { askAddress } from './addressQuestion.ts';
import type { CommandContext } from '../context.ts';
import { type Answer, answered, type Page, runFlow, type Step } from '../input/multiStepInput.ts';
import { askText, pickOne } from '../input/quickInput.ts';

export type ConnectAnswer =
  | { readonly kind: 'localService' }
  | { readonly kind: 'account'; readonly account: Account; readonly key: string };

interface Known {
  readonly address?: BaseUrl | 'localService' | undefined;
  /** Undefined while not chosen, empty for the first account at an address. */
  readonly name?: string | undefined;
  readonly isNew?: boolean;
  readonly key?: string;
}

/** @param account asks for its key alone. @returns undefined when the user gave up */
export async function askForAccount(
  context: CommandContext,
  account: Account | undefined,
): Promise<ConnectAnswer | undefined> {
  const { accounts } = await context.accounts.list();
  const start: Known = account === undefined ? {} : { address: account.baseUrl, name: account.name };
  const known = await runFlow(l10n.t('Connect to Hosted Postgres'), start, stepsOf(context, accounts));
  if (known?.address === 'localService') return { kind: 'localService' };
  if (known?.address === undefined || known.key === undefined) return undefined;
  return { kind: 'account', account: { baseUrl: known.address, name: known.name ?? '' }, key: known.key };
}

function stepsOf(context: CommandContext, accounts: readonly Account[]): readonly Step<Known>[] {
  const at = ({ address }: Known) =>
    accounts.filter((other) => other.baseUrl === address && other.local !== true);
  return [
    {
      applies: (known) => known.address === undefined,
      ask: async (page) => answered(await askAddress(context, accounts, page), (address) => ({ address })),
    },
    {
      applies: (known) => known.name === undefined && known.isNew !== true && at(known).length > 0,
      ask: async (page, known) =>
        answered(await chooseAccount(page, at(known)), ({ name }) => ({
          ...known,
          name,
          isNew: name === undefined,
        })),
    },
    {
      applies: (known) => known.isNew === true,
      ask: async (page, known) =>
        answered(await askName(page, at(known)), (name) => ({ ...known, name: name.trim() })),
    },
    {
      applies: (known) => known.address !== 'localService',
      ask: async (page, known) =>
        answered(await askKey(context, page, known), (key) => ({ ...known, key: key.trim() })),
    },
  ];
}

interface AccountItem extends QuickPickItem {
  readonly name: string | undefined;
}

async function chooseAccount(page: Page, accounts: readonly Account[]): Promise<Answer<AccountItem>> {
  const items: AccountItem[] = accounts.map(({ name }) => ({
    label: name === '' ? l10n.t('The account connected before') : name,
    description: l10n.t('gets a new key'),
    name,
  }));
  items.push({ label: `$(add) ${l10n.t('Another account at this address…')}`, name: undefined });
  return await pickOne(page, { placeholder: l10n.t('Account'), items });
}

const askName = (page: Page, accounts: readonly Account[]): Promise<Answer<string>> =>
  askText(page, {
    prompt: l10n.t('A name for the account, to tell it from the others at this address'),
    problem: (text) => {
      if (text.trim() === '') return l10n.t('Must not be empty');
      const isTaken = accounts.some(({ name }) => name === text.trim());
      return isTaken ? l10n.t('Another account has this name') : undefined;
    },
  });

const askKey = (context: CommandContext, page: Page, known: Known): Promise<Answer<string>> =>
  askText(page, {
    prompt: l10n.t('The API key of the account at {0}', known.address ?? ''),
    isSecret: true,
    problem: (text) => {
      if (text.trim() === '') return l10n.t('Must not be empty');
      return isSendableKey(text.trim()) ? undefined : l10n.t('Not a key: it has characters no key has');
    },
    check: (text, signal) => refusalOf(context, known, text.trim(), signal),
  });

/** Lists projects, which every kind of key may; an organization's key may see no account routes (public service). */
async function refusalOf(
  context: CommandContext,
  known: Known,
  key: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (known.address === undefined || known.address === 'localService') return undefined;
  context.log.addSecret(key);
  try {
    const client = await context.openClient({ baseUrl: known.address, name: known.name ?? '' }, key, 1);
    await client.projectPages(context.config.organizationId, { signal }).next();
    return undefined;
  } catch (error) {
    if (isCancelled(error)) return undefined;
    context.log.error('Checking an API key', error);
    return explainError(error).message;
  }
}
