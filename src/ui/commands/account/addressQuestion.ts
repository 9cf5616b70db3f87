/** Which service to connect to: the one of the settings, the local one, one connected to before, or one that is typed. */
import { l10n, type QuickPickItem } from 'vscode';
import { parseBaseUrl, type BaseUrl, type BaseUrlProblem } from '../../../api/baseUrl.ts';
import type { Account } from '../../../model/account/accounts.ts';
import type { CommandContext } from '../context.ts';
import { type Answer, answered, type Page } from '../input/multiStepInput.ts';
import { pickOne } from '../input/quickInput.ts';

interface AddressItem extends QuickPickItem {
  readonly address: BaseUrl | 'localService' | undefined;
}

export async function askAddress(
  context: CommandContext,
  accounts: readonly Account[],
  page: Page,
): Promise<Answer<BaseUrl | 'localService'>> {
  const set = addressItem(context.config.baseUrl, l10n.t('from the settings'));
  const local = l10n.t('Local service');
  const items: AddressItem[] = [
    set,
    {
      label: local,
      description: l10n.t('real Postgres on this machine, no account needed'),
      address: 'localService',
    },
  ];
  for (const { baseUrl, local: isLocal } of accounts) {
    const isListed = items.some(({ address }) => address === baseUrl);
    if (!isListed && isLocal !== true) items.push({ label: baseUrl, address: baseUrl });
  }
  const typed = (text: string): AddressItem | undefined => {
    const isListed = items.some(({ label }) => label === text);
    const looksLikeAddress = /[:/.]/.test(text);
    return looksLikeAddress && !isListed ? { ...addressItem(text, ''), alwaysShow: true } : undefined;
  };
  const placeholder = l10n.t('Pick a service, or type its base address (https://…/api/v2)');
  const isRefused = (item: AddressItem) => item.address === undefined;
  const picked = await pickOne(page, { placeholder, items, typed, isRefused });
  return answered(picked, (item) => item.address ?? 'localService');
}

/** An address that cannot be used says why in place of its description. */
function addressItem(text: string, description: string): AddressItem {
  const parsed = parseBaseUrl(text);
  return typeof parsed === 'string'
    ? { label: parsed, description, address: parsed }
    : { label: text, description: problemText(parsed.problem), address: undefined };
}

function problemText(problem: BaseUrlProblem): string {
  switch (problem) {
    case 'not-a-url':
      return l10n.t('not an address: https://…/api/v2');
    case 'not-https':
      return l10n.t('must begin with https:// (http:// only for this machine)');
    case 'credentials':
      return l10n.t('must not contain a user name or password');
    case 'query-or-fragment':
      return l10n.t('must end with the path: no ? and no #');
    case 'no-version':
      return l10n.t('must end with the version segment: /v2');
    default:
      return problem satisfies never;
  }
}
