/** The questions of Connect…: the service, the account and its key, which is checked with the service. */
import { l10n, type QuickPickItem } from 'vscode';
import type { BaseUrl } from '../../../api/baseUrl.ts';
import { isCancelled } from '../../../api/errors.ts';
import { isSendableKey } from '../../../api/records/ids.ts';
import type { Account } from '../../../model/account/accounts.ts';
import { explainError } from '../../text/errorMessage.ts';
import type { CommandContext } from '../context.ts';
import { mapAnswer, runSteps, type Answer, type Page, type Step } from '../input/multiStepInput.ts';
import { askText, pickOne } from '../input/quickInput.ts';
import { askAddress } from './addressQuestion.ts';

export type ConnectAnswer =
  | { readonly kind: 'localService' }
  | { readonly kind: 'account'; readonly account: Account; readonly key: string };

interface ConnectState {
  readonly address?: BaseUrl | 'localService';
  /** Empty for the first account at an address; undefined until chosen. */
  readonly name?: string | undefined;
  readonly isNew?: boolean;
  readonly key?: string;
}

/** @param account asks only for its new key. @returns undefined if the user canceled */
export async function askForAccount(
  context: CommandContext,
  account: Account | undefined,
): Promise<ConnectAnswer | undefined> {
  const { accounts } = await context.accounts.list();
  const start: ConnectState = account === undefined ? {} : { address: account.baseUrl, name: account.name };
  const state = await runSteps(l10n.t('Connect to Hosted Postgres'), start, connectSteps(context, accounts));
  if (state?.address === 'localService') return { kind: 'localService' };
  if (state?.address === undefined || state.key === undefined) return undefined;
  return { kind: 'account', account: { baseUrl: state.address, name: state.name ?? '' }, key: state.key };
}

function connectSteps(context: CommandContext, accounts: readonly Account[]): readonly Step<ConnectState>[] {
  const accountsAt = ({ address }: ConnectState) =>
    accounts.filter(({ baseUrl, local }) => baseUrl === address && local !== true);
  return [
    {
      applies: (state) => state.address === undefined,
      ask: async (page) => mapAnswer(await askAddress(context, accounts, page), (address) => ({ address })),
    },
    {
      applies: (state) => state.name === undefined && state.isNew !== true && accountsAt(state).length > 0,
      ask: async (page, state) =>
        mapAnswer(await askAccount(page, accountsAt(state)), ({ name }) => ({
          ...state,
          name,
          isNew: name === undefined,
        })),
    },
    {
      applies: (state) => state.isNew === true,
      ask: async (page, state) =>
        mapAnswer(await askAccountName(page, accountsAt(state)), (name) => ({ ...state, name })),
    },
    {
      applies: (state) => state.address !== 'localService',
      ask: async (page, state) => mapAnswer(await askKey(context, page, state), (key) => ({ ...state, key })),
    },
  ];
}

interface AccountItem extends QuickPickItem {
  readonly name: string | undefined;
}

async function askAccount(page: Page, accounts: readonly Account[]): Promise<Answer<AccountItem>> {
  const items: AccountItem[] = accounts.map(({ name }) => ({
    label: name === '' ? l10n.t('Default account') : name,
    description: l10n.t('replaces its key'),
    name,
  }));
  items.push({ label: `$(add) ${l10n.t('Add another account…')}`, name: undefined });
  return await pickOne(page, { placeholder: l10n.t('Select an account'), items });
}

const askAccountName = (page: Page, accounts: readonly Account[]): Promise<Answer<string>> =>
  askText(page, {
    prompt: l10n.t('Name of the account, to distinguish it from others on this service'),
    problem: (text) =>
      accounts.some(({ name }) => name === text)
        ? l10n.t('Another account already has this name')
        : undefined,
  });

const askKey = (context: CommandContext, page: Page, state: ConnectState): Promise<Answer<string>> =>
  askText(page, {
    prompt: l10n.t('API key for {0}', state.address ?? ''),
    isSecret: true,
    problem: (text) =>
      isSendableKey(text)
        ? undefined
        : l10n.t("This isn't an API key. Keys have only ASCII characters and no spaces."),
    check: (text, signal) => checkKey(context, state, text, signal),
  });

/** Lists projects, because every kind of key may do that. @returns why the key can't be used */
async function checkKey(
  context: CommandContext,
  { address, name = '' }: ConnectState,
  key: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (address === undefined || address === 'localService') return undefined;
  context.log.addSecret(key);
  try {
    const client = await context.openClient({ baseUrl: address, name }, key, 1);
    await client.projectPages(context.config.organizationId, { signal }).next();
    return undefined;
  } catch (error) {
    if (isCancelled(error)) return undefined;
    context.log.error('Checking an API key', error);
    return explainError(error).message;
  }
}
