/** Connect, switch, disconnect. A key is stored when the service has accepted it, and not before. */
import { l10n, type QuickPickItem } from 'vscode';
import type { Account } from '../../../model/account/accounts.ts';
import { accountLabel } from '../../text/accountLabel.ts';
import { announce } from '../../notifications/announce.ts';
import { askForAccount } from './accountQuestions.ts';
import { confirm } from '../input/confirm.ts';
import type { Command, CommandContext } from '../context.ts';
import { start } from './localService.ts';
import { pickOne } from '../input/quickInput.ts';

/** @param argument `newKey`: for the account connected to, whose key is no longer accepted */
export const connect: Command = async (context, argument, run) => {
  run.couldNot = l10n.t('Could not connect');
  const current = context.session.connection?.account;
  const account = argument === 'newKey' ? current : undefined;
  const answer = await askForAccount(context, account);
  if (answer === undefined) return;
  if (answer.kind === 'localService') return await start(context, undefined, run);
  context.log.addSecret(answer.key);
  await context.accounts.add(answer.account, answer.key);
  await context.session.reread();
  announce(l10n.t('Connected to {0}', accountLabel(answer.account)));
};

interface AccountItem extends QuickPickItem {
  readonly account: Account | undefined;
}

const alone = (title: string) => ({ title, step: 1, steps: 1, canGoBack: false });

async function accountItems({ accounts }: CommandContext): Promise<readonly AccountItem[]> {
  const { accounts: known, current } = await accounts.list();
  return known.map((account) => ({
    label: accountLabel(account),
    description: current === account ? l10n.t('connected') : '',
    account,
  }));
}

export const switchAccount: Command = async (context, _argument, run) => {
  run.couldNot = l10n.t('Could not switch the account');
  const another = { label: `$(add) ${l10n.t('Connect to another account…')}`, account: undefined };
  const items = async () => [...(await accountItems(context)), another];
  const question = { placeholder: l10n.t('Account to show'), items: items() };
  const picked = await pickOne(alone(l10n.t('Switch Account')), question);
  if (typeof picked !== 'object') return;
  if (picked.account === undefined) return await connect(context, undefined, run);
  if (picked.account.local === true) return await start(context, undefined, run);
  await context.accounts.choose(picked.account);
  announce(l10n.t('Connected to {0}', accountLabel(picked.account)));
};

export const disconnect: Command = async (context, _argument, run) => {
  run.couldNot = l10n.t('Could not disconnect');
  const { accounts, session } = context;
  const account = session.connection?.account ?? (await accounts.list()).current;
  if (account === undefined) return;
  await forget(context, account, l10n.t('Disconnect from {0}?', accountLabel(account)), l10n.t('Disconnect'));
};

/** Forgets any of the accounts, connected to or not. */
export const remove: Command = async (context, _argument, run) => {
  run.couldNot = l10n.t('Could not remove the account');
  const items = await accountItems(context);
  const placeholder = items.length === 0 ? l10n.t('No account is known') : l10n.t('Account to remove');
  const picked = await pickOne(alone(l10n.t('Remove Account')), { placeholder, items });
  if (typeof picked !== 'object' || picked.account === undefined) return;
  const { account } = picked;
  await forget(context, account, l10n.t('Remove {0}?', accountLabel(account)), l10n.t('Remove'));
};

async function forget(
  { accounts }: CommandContext,
  account: Account,
  question: string,
  verb: string,
): Promise<void> {
  const detail = l10n.t(
    'Its API key is removed from this machine. It stays valid; revoke it if it is not needed any more.',
  );
  if (await confirm(question, detail, verb)) await accounts.remove(account);
}
