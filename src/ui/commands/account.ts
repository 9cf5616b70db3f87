/** Connect, switch, disconnect. A key is stored when the service has accepted it, and not before. */
import { l10n, window, type QuickPickItem } from 'vscode';
import { baseUrlOrUndefined } from '../../api/baseUrl.ts';
import { accountId, type Account } from '../../model/accounts.ts';
import { askForAccount } from './accountQuestions.ts';
import { confirm } from './confirm.ts';
import type { Command } from './context.ts';
import { start } from './localServiceCommands.ts';
import { pickOne } from './quickInput.ts';

/** @param argument `newKey`: for the account connected to, whose key is no longer accepted */
export const connect: Command = async (context, argument, run) => {
  run.couldNot = l10n.t('Could not connect');
  const current = context.session.connection?.account;
  const account = argument === 'newKey' ? current : undefined;
  const answer = await askForAccount(context, account);
  if (answer === undefined) return;
  if (answer.kind === 'localService') return await start(context, undefined, run);
  context.log.keepOut(answer.key);
  await context.accounts.add(answer.account, answer.key);
  window.setStatusBarMessage(`$(check) ${l10n.t('Connected to {0}', accountId(answer.account))}`, 4000);
};

interface AccountItem extends QuickPickItem {
  readonly account: Account | undefined;
}

export const switchAccount: Command = async (context, _argument, run) => {
  run.couldNot = l10n.t('Could not switch the account');
  const items = async (): Promise<AccountItem[]> => {
    const { accounts, current } = await context.accounts.list();
    const known = accounts.map((account) => ({
      label: accountLabel(account),
      description: current === account ? l10n.t('connected') : '',
      account,
    }));
    return [...known, { label: `$(add) ${l10n.t('Connect to another account…')}`, account: undefined }];
  };
  const page = { title: l10n.t('Switch Account'), step: 1, steps: 1, canGoBack: false };
  const picked = await pickOne(page, { placeholder: l10n.t('Account'), items: items() });
  if (typeof picked !== 'object') return;
  if (picked.account === undefined) return await connect(context, undefined, run);
  if (picked.account.local === true) return await start(context, undefined, run);
  await context.accounts.choose(picked.account);
};

export const disconnect: Command = async ({ accounts, session }, _argument, run) => {
  run.couldNot = l10n.t('Could not disconnect');
  const account = session.connection?.account ?? (await accounts.list()).current;
  if (account === undefined) return;
  const detail = l10n.t(
    'Its API key is removed from this machine. It stays valid; revoke it if it is not needed any more.',
  );
  if (!(await confirm(l10n.t('Disconnect from {0}?', accountLabel(account)), detail, l10n.t('Disconnect'))))
    return;
  await accounts.remove(account);
};

/** Host and path are what tells services apart; the version segment is the same everywhere. */
export function accountLabel(account: Account): string {
  if (account.local === true) return l10n.t('Local service');
  const address = baseUrlOrUndefined(account.baseUrl)?.replace(/^https?:\/\//, '') ?? account.baseUrl;
  return account.name === '' ? address : `${account.name} (${address})`;
}
