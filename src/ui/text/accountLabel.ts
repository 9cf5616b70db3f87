import { l10n } from 'vscode';
import { baseUrlOrUndefined } from '../../api/baseUrl.ts';
import type { Account } from '../../model/account/accounts.ts';
import { sanitize } from './sanitize.ts';

/** `name (host/path)`, or the address alone for an account without a name. */
export function accountLabel(account: Account): string {
  if (account.local === true) return l10n.t('Local service');
  const address = baseUrlOrUndefined(account.baseUrl)?.replace(/^https?:\/\//, '') ?? account.baseUrl;
  return sanitize(account.name === '' ? address : `${account.name} (${address})`);
}
