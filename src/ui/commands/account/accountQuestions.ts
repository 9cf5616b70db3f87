/** The questions of Connect…: the service, the account and its key. Checks the key with the service. */
import { env, l10n, ThemeIcon, Uri } from 'vscode';
import { parseBaseUrl, type BaseUrl, type BaseUrlProblem } from '../../../api/baseUrl.ts';
import { isCancelled } from '../../../api/errors.ts';
import { isSendableKey } from '../../../api/records/ids.ts';
import type { Organization } from '../../../api/records/records.ts';
import type { Account } from '../../../model/account/accounts.ts';
import { explainError } from '../../text/errorMessage.ts';
import type { CommandContext } from '../context.ts';
import {
  mapAnswer,
  runSteps,
  valueStep,
  type Answer,
  type StepPosition,
  type Step,
} from '../input/multiStepInput.ts';
import { askText, pickOne, type Choice, type Question } from '../input/quickInput.ts';
import { askOrganization } from './organization.ts';

type ConnectAnswer =
  | { readonly kind: 'localService' }
  | { readonly kind: 'account'; readonly account: Account; readonly key: string };

interface ConnectState {
  readonly address?: BaseUrl | 'localService';
  /** Empty for the first account at an address; undefined until chosen. */
  readonly name?: string | undefined;
  readonly isNew?: boolean;
  readonly key?: string;
  readonly organizationId?: string | undefined;
  /** The choices if the service needs to know the organization. */
  readonly organizations?: readonly Organization[];
}

/** @param account if given, asks only for its new key. @returns undefined if the user canceled */
export async function askForAccount(
  context: CommandContext,
  account: Account | undefined,
): Promise<ConnectAnswer | undefined> {
  const { accounts } = await context.accounts.list();
  const start: ConnectState =
    account === undefined
      ? {}
      : { address: account.baseUrl, name: account.name, organizationId: account.organizationId };
  const state = await runSteps(l10n.t('Connect to Hosted Postgres'), start, connectSteps(context, accounts));
  if (state?.address === 'localService') return { kind: 'localService' };
  if (state?.address === undefined || state.key === undefined) return undefined;
  const { address: baseUrl, name = '', organizationId, key } = state;
  const organization = organizationId === undefined ? {} : { organizationId };
  return { kind: 'account', account: { baseUrl, name, ...organization }, key };
}

function connectSteps(context: CommandContext, accounts: readonly Account[]): readonly Step<ConnectState>[] {
  const accountsAt = ({ address }: ConnectState) =>
    accounts.filter(({ baseUrl, local }) => baseUrl === address && local !== true);
  return [
    {
      applies: (state) => state.address === undefined,
      ask: async (position) =>
        mapAnswer(await askAddress(context, accounts, position), (address) => {
          const isLocal = accounts.some(({ baseUrl, local }) => local === true && baseUrl === address);
          return { address: isLocal ? 'localService' : address };
        }),
    },
    {
      applies: (state) => state.name === undefined && state.isNew !== true && accountsAt(state).length > 0,
      ask: async (position, state) =>
        mapAnswer(await askAccount(position, accountsAt(state)), (account) =>
          account === 'new'
            ? { ...state, isNew: true }
            : { ...state, name: account.name, organizationId: account.organizationId },
        ),
    },
    valueStep(
      'name',
      (position, state) => askAccountName(position, accountsAt(state)),
      (state) => state.isNew === true,
    ),
    {
      applies: (state) => state.address !== 'localService',
      ask: (position, state) => askKey(context, position, state),
    },
    valueStep(
      'organizationId',
      (position, { organizations = [] }) => askOrganization(position, organizations),
      ({ organizations = [] }) => organizations.length > 1,
    ),
  ];
}

async function askAccount(
  position: StepPosition,
  accounts: readonly Account[],
): Promise<Answer<Account | 'new'>> {
  const items: Choice<Account | 'new'>[] = accounts.map((account) => ({
    label: account.name === '' ? l10n.t('Default account') : account.name,
    description: l10n.t('replaces its key'),
    value: account,
  }));
  const another = l10n.t('Add another account…');
  items.push({ label: another, iconPath: new ThemeIcon('add'), value: 'new' });
  return await pickOne(position, { placeholder: l10n.t('Select an account'), items });
}

const askAccountName = (position: StepPosition, accounts: readonly Account[]): Promise<Answer<string>> =>
  askText(position, {
    prompt: l10n.t('Name of the account, to distinguish it from others on this service'),
    problem: (text) =>
      accounts.some(({ name }) => name === text)
        ? l10n.t('Another account already has this name')
        : undefined,
  });

/** The public service's page for keys, which start with `napi_`. Other services are not known. */
const PUBLIC_HOST = 'console.neon.tech';
const PUBLIC_KEYS_PAGE = `https://${PUBLIC_HOST}/app/settings/api-keys`;

async function askKey(
  context: CommandContext,
  position: StepPosition,
  state: ConnectState,
): Promise<Answer<ConnectState>> {
  const { address = '' } = state;
  const isPublic = address.startsWith(`https://${PUBLIC_HOST}/`);
  let accepted = state;
  const question: Question = {
    prompt: l10n.t('API key for {0}', address),
    placeholder: isPublic ? 'napi_…' : '',
    isSecret: true,
    problem: (text) =>
      isSendableKey(text)
        ? undefined
        : l10n.t("This isn't an API key. Keys have only ASCII characters and no spaces."),
    check: async (text, signal) => {
      const checked = await checkKey(context, state, text, signal);
      if (typeof checked === 'string') return checked;
      accepted = { ...state, ...checked };
      return undefined;
    },
  };
  const button = {
    iconPath: new ThemeIcon('link-external'),
    tooltip: l10n.t('Open the page for API keys'),
    act: () => void env.openExternal(Uri.parse(PUBLIC_KEYS_PAGE)),
  };
  const answer = await askText(position, isPublic ? { ...question, button } : question);
  return mapAnswer(answer, (key) => ({ ...accepted, key }));
}

type CheckedKey = Pick<ConnectState, 'organizationId' | 'organizations'>;

/** Lists projects, which every kind of key may do. @returns why the key can't be used, or what the check found out */
async function checkKey(
  context: CommandContext,
  { address, name = '', organizationId }: ConnectState,
  key: string,
  signal: AbortSignal,
): Promise<string | CheckedKey> {
  if (address === undefined || address === 'localService') return {};
  context.log.addSecret(key);
  try {
    const client = await context.openClient({ baseUrl: address, name }, key, 1);
    const listed = client.projectPages(context.config.organizationOf({ organizationId }), { signal });
    const failure = await listed.next().then(
      () => undefined,
      (error: unknown) => error ?? new Error(),
    );
    if (failure === undefined) return {};
    if (explainError(failure).action !== 'organization') throw failure;
    const organizations = (await client.findOrganizations({ signal })) ?? [];
    if (organizations.length === 0) throw failure;
    // Don't ask if there is only one.
    return { organizations, organizationId: organizations[0]?.id };
  } catch (error) {
    if (isCancelled(error)) return {};
    context.log.error('Checking an API key', error);
    return explainError(error).message;
  }
}

type AddressItem = Choice<BaseUrl | 'localService'>;

async function askAddress(
  context: CommandContext,
  accounts: readonly Account[],
  position: StepPosition,
): Promise<Answer<BaseUrl | 'localService'>> {
  const items: AddressItem[] = [
    addressItem(context.config.baseUrl, l10n.t('from the settings')),
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
    const isListed = items.some(({ label }) => label === text);
    const looksLikeAddress = /[:/.]/.test(text);
    return looksLikeAddress && !isListed ? { ...addressItem(text, ''), alwaysShow: true } : undefined;
  };
  const placeholder = l10n.t('Select a service or enter its base URL (https://…/api/v2)');
  return await pickOne(position, { placeholder, items, typed });
}

/** The item for an entered URL. The description of an invalid one says what is wrong. */
function addressItem(text: string, description: string): AddressItem {
  const parsed = parseBaseUrl(text);
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
