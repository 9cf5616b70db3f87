/** Asks for the service: the one in the settings, the local one, a known one or an entered URL. */
import { l10n } from 'vscode';
import { parseBaseUrl, type BaseUrl, type BaseUrlProblem } from '../../../api/baseUrl.ts';
import type { Account } from '../../../model/account/accounts.ts';
import type { CommandContext } from '../context.ts';
import type { Answer, Page } from '../input/multiStepInput.ts';
import { pickOne, type Choice } from '../input/quickInput.ts';

type AddressItem = Choice<BaseUrl | 'localService'>;

export async function askAddress(
  context: CommandContext,
  accounts: readonly Account[],
  page: Page,
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
  return await pickOne(page, { placeholder, items, typed });
}

/** The description of an invalid URL says what is wrong. */
function addressItem(text: string, description: string): AddressItem {
  const parsed = parseBaseUrl(text);
  return typeof parsed === 'string'
    ? { label: parsed, description, value: parsed }
    : { label: text, description: addressProblem(parsed.problem), value: undefined };
}

function addressProblem(problem: BaseUrlProblem): string {
  switch (problem) {
    case 'not-a-url':
      return l10n.t('not a URL such as https://…/api/v2');
    case 'not-https':
      return l10n.t('must start with https:// (http:// only on this machine)');
    case 'credentials':
      return l10n.t("can't contain a user name or password");
    case 'query-or-fragment':
      return l10n.t("can't contain ? or #");
    case 'no-version':
      return l10n.t('must end with a version such as /v2');
    default:
      return problem satisfies never;
  }
}
