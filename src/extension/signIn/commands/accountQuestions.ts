/** The questions of Connect…: the service, the account and its key. Checks the key with the service. */
import { env, l10n, ThemeIcon, Uri } from 'vscode';
import {
  completeBaseUrl,
  parseBaseUrl,
  type BaseUrl,
  type BaseUrlProblem,
} from '../../../api/transport/baseUrl.ts';
import { faultOf, isCancelled, isRejected } from '../../../api/transport/errors.ts';
import { isId, isSendableKey } from '../../../api/records/ids.ts';
import type { Organization } from '../../../api/records/records.ts';
import { sanitize } from '../../../base/sanitize.ts';
import type { Account } from '../../account/accounts.ts';
import {
  isPublicKey,
  isPublicService,
  PUBLIC_KEYS_PAGE,
  PUBLIC_SERVICE,
} from '../../account/publicService.ts';
import { explainError } from '../../window/ui/errorMessage.ts';
import type { CommandContext } from '../../commandSupport/context.ts';
import { askInSteps, type Ask, type Question } from '../../window/ui/input/multiStepInput.ts';
import { enterText, pickOne, type Choice, type TextOptions } from '../../window/ui/input/quickInput.ts';

/** An account, and a key that its service has accepted. */
interface AcceptedAccount {
  readonly account: Account;
  readonly key: string;
}

/** @param account if given, asks only for its new key. @returns undefined if the user canceled */
export async function askForAccount(
  context: CommandContext,
  account: Account | undefined,
): Promise<AcceptedAccount | 'localService' | undefined> {
  const { accounts } = await context.accounts.list();
  return await askInSteps(l10n.t('Connect to Hosted Postgres'), async (ask) => {
    const answer = account?.baseUrl ?? (await ask(addressQuestion(context, accounts), { following: 1 }));
    if (answer === 'localService') return 'localService';
    // A key that was pasted into the box for the address goes to the public service alone.
    const [address, pasted] = typeof answer === 'string' ? [answer] : [PUBLIC_SERVICE, answer.publicKey];
    const stored = accounts.filter(({ baseUrl }) => baseUrl === address);
    if (stored.some(({ local }) => local === true)) return 'localService';
    const { name, organizationId, organizationName } = account ?? (await askForName(ask, stored));
    const organization = organizationId === undefined ? {} : { organizationId, organizationName };
    const chosen = { baseUrl: address, name, ...organization };
    const { key, organizations, isLimited } = await ask(keyQuestion(context, chosen, pasted));
    if (isLimited) {
      const projectId = await ask(projectIdQuestion(context, chosen, key, account?.projectId));
      return { account: { ...chosen, projectId }, key };
    }
    const [first, another] = organizations;
    if (first === undefined) return { account: chosen, key };
    const id = another === undefined ? first.id : await ask(organizationQuestion(organizations));
    const found = organizations.find((each) => each.id === id);
    return { account: { ...chosen, organizationId: id, organizationName: found?.name }, key };
  });
}

/** Returns a stored account, or the name of a new one. Asks nothing for the first account at an address. */
async function askForName(
  ask: Ask,
  stored: readonly Account[],
): Promise<Pick<Account, 'name' | 'organizationId' | 'organizationName'>> {
  if (stored.length === 0) return { name: '' };
  const account = await ask(accountQuestion(stored), { following: 1 });
  if (account !== 'new') return account;
  return { name: await ask(accountNameQuestion(stored), { following: 1 }) };
}

function accountQuestion(accounts: readonly Account[]): Question<Account | 'new'> {
  const items: Choice<Account | 'new'>[] = accounts.map((account) => ({
    label: account.name === '' ? l10n.t('Default account') : account.name,
    description: l10n.t('replaces its key'),
    value: account,
  }));
  const another = l10n.t('Add another account…');
  items.push({ label: another, iconPath: new ThemeIcon('add'), value: 'new' });
  return pickOne({ placeholder: l10n.t('Select an account'), items });
}

const accountNameQuestion = (accounts: readonly Account[]): Question<string> =>
  enterText({
    prompt: l10n.t('Name of the account, to distinguish it from others on this service'),
    problem: (text) =>
      accounts.some(({ name }) => name === text)
        ? l10n.t('Another account already has this name')
        : undefined,
  });

interface KeyScope {
  /** The choices if the service needs to know the organization. */
  readonly organizations: readonly Organization[];
  /** Whether the key can't list projects, as one of the public service for a single project. */
  readonly isLimited: boolean;
}

interface AcceptedKey extends KeyScope {
  readonly key: string;
}

const UNLIMITED: KeyScope = { organizations: [], isLimited: false };

function keyQuestion(context: CommandContext, account: Account, pasted = ''): Question<AcceptedKey> {
  const { baseUrl } = account;
  const isPublic = isPublicService(baseUrl);
  let scope = UNLIMITED;
  const question: TextOptions = {
    prompt: l10n.t('API key for {0}', isPublic ? `Neon (${baseUrl})` : baseUrl),
    placeholder: isPublic ? 'napi_…' : '',
    value: pasted,
    isSecret: true,
    problem: (text) =>
      isSendableKey(text)
        ? undefined
        : l10n.t("This isn't an API key. Keys have only ASCII characters and no spaces."),
    check: async (text, signal) => {
      const checked = await checkKey(context, account, text, signal);
      if (typeof checked === 'string') return checked;
      scope = checked;
      return undefined;
    },
  };
  const button = {
    iconPath: new ThemeIcon('link-external'),
    tooltip: l10n.t('Open the page for API keys'),
    act: () => void env.openExternal(Uri.parse(PUBLIC_KEYS_PAGE)),
  };
  const enterKey = enterText(isPublic ? { ...question, button } : question);
  return async (position) => {
    const answer = await enterKey(position);
    return typeof answer === 'string' ? { key: answer, ...scope } : answer;
  };
}

/** There are fewer retries than usual, because the user waits for the check of what was entered. */
const RETRIES_OF_CHECK = 1;

/**
 * Lists projects, which nearly every kind of key may do.
 * @returns why the key can't be used, or else what it can be used for
 */
async function checkKey(
  context: CommandContext,
  account: Account,
  key: string,
  signal: AbortSignal,
): Promise<string | KeyScope> {
  context.log.addSecret(key);
  try {
    const client = await context.openClient(account, key, RETRIES_OF_CHECK);
    try {
      await client.projectPages(context.config.organizationOf(account), { signal }).next();
      return UNLIMITED;
    } catch (error) {
      // The rejection must come from the service itself, and not from a page of another server.
      const fault = faultOf(error);
      if (isRejected(error, 403, 404) && fault?.kind === 'rejected' && fault.isSilent !== true)
        return { ...UNLIMITED, isLimited: true };
      if (explainError(error).action !== 'organization') throw error;
      const organizations = (await client.findOrganizations({ signal })) ?? [];
      if (organizations.length === 0) throw error;
      return { organizations, isLimited: false };
    }
  } catch (error) {
    if (isCancelled(error)) return UNLIMITED;
    context.log.error('Checking an API key', error);
    return explainError(error).message;
  }
}

export function organizationQuestion(organizations: readonly Organization[]): Question<string> {
  const placeholder = l10n.t('Select the organization whose projects to show');
  const items = organizations.map(({ id, name }) => ({ label: sanitize(name), description: id, value: id }));
  return pickOne({ placeholder, items });
}

/** Returns what to ask if the key can't list projects. The question checks that the key can read this one. */
const projectIdQuestion = (
  context: CommandContext,
  account: Account,
  key: string,
  value = '',
): Question<string> =>
  enterText({
    prompt: l10n.t("This key can't list projects. Enter the id of the project that it gives access to"),
    value,
    problem: idProblem,
    check: async (projectId, signal) => {
      try {
        const client = await context.openClient({ ...account, projectId }, key, RETRIES_OF_CHECK);
        await client.projectPages(undefined, { signal }).next();
        return undefined;
      } catch (error) {
        return explainError(error).message;
      }
    },
  });

const idProblem = (text: string): string | undefined =>
  isId(text) ? undefined : l10n.t('Only a–z, 0–9 and -, at most 60 characters');

/** Returns what to ask if the service lists no organizations. */
export const organizationIdQuestion = (): Question<string> =>
  enterText({
    prompt: l10n.t('Id of the organization, from the settings of your service'),
    placeholder: 'org-…',
    problem: idProblem,
  });

type AddressAnswer = BaseUrl | 'localService' | { readonly publicKey: string };
type AddressItem = Choice<AddressAnswer>;

function addressQuestion(context: CommandContext, accounts: readonly Account[]): Question<AddressAnswer> {
  const fromSettings = addressItem(context.config.baseUrl, l10n.t('from the settings'));
  const items: AddressItem[] = [
    ...(fromSettings.value === PUBLIC_SERVICE ? [] : [fromSettings]),
    { label: 'Neon', description: PUBLIC_SERVICE, value: PUBLIC_SERVICE },
    {
      label: l10n.t('Local service'),
      description: l10n.t('real Postgres on this machine, no account needed'),
      value: 'localService',
    },
  ];
  for (const { baseUrl, local: isLocal } of accounts) {
    const isListed = items.some(({ value }) => value === baseUrl);
    if (!isListed && isLocal !== true) items.push({ label: baseUrl, value: baseUrl });
  }
  const typed = (text: string): AddressItem | undefined => {
    const looksLikeAddress = /[:/.]/.test(text);
    const item = addressItem(text, '');
    const isListed = items.some(({ label, value }) => label === text || value === item.value);
    return looksLikeAddress && !isListed ? { ...item, alwaysShow: true } : undefined;
  };
  const secret = (text: string) => {
    if (!isPublicKey(text)) return undefined;
    context.log.addSecret(text);
    return { publicKey: text };
  };
  const placeholder = l10n.t('Select a service or enter its base URL (https://…/api/v2)');
  return pickOne<AddressAnswer>({ placeholder, items, typed, secret });
}

/** Returns the item for an entered URL, with the path of the API. The description of an invalid one says what is wrong. */
function addressItem(text: string, description: string): AddressItem {
  const parsed = parseBaseUrl(completeBaseUrl(text));
  return typeof parsed === 'string'
    ? { label: parsed, description, value: parsed }
    : { label: text, description: addressProblem(parsed.problem), value: undefined };
}

function addressProblem(problem: BaseUrlProblem): string {
  const texts: Record<BaseUrlProblem, string> = {
    'not-a-url': l10n.t('not a URL such as https://…/api/v2'),
    'not-https': l10n.t('must start with https:// (http:// only on this machine)'),
    credentials: l10n.t("can't contain a user name or password"),
    'query-or-fragment': l10n.t("can't contain ? or #"),
    'no-version': l10n.t('must end with a version such as /v2'),
  };
  return texts[problem];
}
