import { l10n } from 'vscode';
import { baseUrlOrUndefined } from '../../../api/transport/baseUrl.ts';
import type { Account } from '../accounts.ts';
import type { Mark } from '../../window/marks.ts';
import { sanitize } from '../../../base/sanitize.ts';

/**
 * Returns “Local service” for the account of the local service, and otherwise `name (host/path)`, or only the address without a
 * name.
 */
export function accountLabel(account: Account): string {
  if (account.local === true) return l10n.t('Local service');
  const address = baseUrlOrUndefined(account.baseUrl)?.replace(/^https?:\/\//, '') ?? account.baseUrl;
  return sanitize(account.name === '' ? address : `${account.name} (${address})`);
}

export const markText = (mark: Mark): string =>
  mark === 'production' ? l10n.t('production') : l10n.t('read-only');

/** Returns the account, its organization, and how the user has marked it. */
export function markedLabel(account: Account, mark: Mark | undefined): string {
  const { organizationId, organizationName = organizationId } = account;
  return [
    accountLabel(account),
    ...(organizationName === undefined ? [] : [sanitize(organizationName)]),
    ...(mark === undefined ? [] : [markText(mark)]),
  ].join(' · ');
}
