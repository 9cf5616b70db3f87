/** The account commands: connect, switch, choose the organization, disconnect, remove. A key is stored only after the service has accepted it. */
import { l10n, ThemeIcon } from 'vscode';
import { sanitize } from '../../../base/sanitize.ts';
import { accountId, type Account } from '../../account/accounts.ts';
import { announce } from '../../window/ui/announce.ts';
import { accountLabel } from '../../account/ui/accountLabel.ts';
import { window } from '../../window/ui/window.ts';
import type { Command, CommandContext } from '../../commandSupport/context.ts';
import { singleStep } from '../../window/ui/input/multiStepInput.ts';
import { pickOne, type Choice } from '../../window/ui/input/quickInput.ts';
import { askForAccount, organizationIdQuestion, organizationQuestion } from './accountQuestions.ts';
import { showRows, startLocalService } from './startLocalService.ts';

/**
 * @param argument the `accountId` of an account whose key is replaced, or `newKey` for the key of the current one; see also
 * `showRows`
 */
export const connectAccount: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't connect");
  const { accounts } = await context.accounts.list();
  const account =
    argument === 'newKey'
      ? context.session.connection?.account
      : accounts.find((stored) => accountId(stored) === argument);
  // The user can't know the key of the local service, so the service is started, which gives the window a valid key.
  if (account?.local === true) return await startLocalService(context, argument, run);
  const answer = await askForAccount(context, account);
  if (answer === undefined) return;
  if (answer === 'localService') return await startLocalService(context, argument, run);
  context.log.addSecret(answer.key);
  await context.accounts.add(answer.account, answer.key);
  await context.session.reread();
  announce(l10n.t('Connected to {0}', accountLabel(answer.account)));
  await showRows(context, argument);
};

async function accountItems({ accounts }: CommandContext): Promise<readonly Choice<Account>[]> {
  const { accounts: all, current } = await accounts.list();
  return all.map((account) => ({
    label: accountLabel(account),
    description: current === account ? l10n.t('connected') : '',
    value: account,
  }));
}

export const switchAccount: Command = async (context, _argument, run) => {
  run.failureMessage = l10n.t("Couldn't switch the account");
  const items = async () => [
    ...(await accountItems(context)),
    {
      label: l10n.t('Connect to another account…'),
      iconPath: new ThemeIcon('add'),
      value: 'another' as const,
    },
  ];
  const placeholder = l10n.t('Select an account');
  const account = await singleStep(
    l10n.t('Switch Account'),
    pickOne<Account | 'another'>({ placeholder, items }),
  );
  if (account === undefined) return;
  if (account === 'another') return await connectAccount(context, undefined, run);
  if (account.local === true) return await startLocalService(context, undefined, run);
  await context.accounts.choose(account);
  announce(l10n.t('Connected to {0}', accountLabel(account)));
};

/** Handles Choose Organization…, for the organization whose projects the account shows. Some keys of the public service need it. */
export const chooseOrganization: Command = async (context, _argument, run) => {
  run.failureMessage = l10n.t("Couldn't choose the organization");
  const connection = context.session.requireConnection();
  const client = await connection.client();
  const organizations = await client.findOrganizations({ signal: connection.signal });
  const question =
    organizations === undefined || organizations.length === 0
      ? organizationIdQuestion()
      : organizationQuestion(organizations);
  const chosen = await singleStep(l10n.t('Choose Organization'), question);
  if (chosen === undefined) return;
  const name = organizations?.find(({ id }) => id === chosen)?.name;
  await context.accounts.setOrganization(connection.account, chosen, name);
  await context.session.reread();
  announce(l10n.t('Showing the projects of {0}', sanitize(name ?? chosen)));
};

export const disconnectAccount: Command = async (context, _argument, run) => {
  run.failureMessage = l10n.t("Couldn't disconnect");
  const { accounts, session } = context;
  const account = session.connection?.account ?? (await accounts.list()).current;
  if (account === undefined) return;
  const name = accountLabel(account);
  const question = l10n.t('Disconnect from {0}?', name);
  if (await askAndRemove(context, account, question, l10n.t('Disconnect')))
    announce(l10n.t('Disconnected from {0}', name));
};

export const removeAccount: Command = async (context, _argument, run) => {
  run.failureMessage = l10n.t("Couldn't remove the account");
  const items = await accountItems(context);
  const [placeholder, none] = [l10n.t('Select an account to remove'), l10n.t('No accounts')];
  const account = await singleStep(l10n.t('Remove Account'), pickOne({ placeholder, none, items }));
  if (account === undefined) return;
  const name = accountLabel(account);
  const question = l10n.t('Remove the account {0}?', name);
  if (await askAndRemove(context, account, question, l10n.t('Remove'))) announce(l10n.t('Removed {0}', name));
};

/** Returns whether the user confirmed. */
async function askAndRemove(
  { accounts }: CommandContext,
  account: Account,
  question: string,
  button: string,
): Promise<boolean> {
  const detail =
    account.local === true
      ? l10n.t('Its projects, computes and data are kept.')
      : l10n.t(
          'Its API key is removed from this machine but stays valid. Revoke the key if you no longer need it.',
        );
  if ((await window.ask(question, detail, button)) === undefined) return false;
  await accounts.remove(account);
  return true;
}
