/** Notifications about failed commands. Background failures go to the log and the view, never here. */
import { env, l10n, Uri } from 'vscode';
import { accountId, type Account } from '../accounts.ts';
import { isPublicService, PUBLIC_KEYS_PAGE } from '../publicService.ts';
import type { Log } from '../../window/ui/log.ts';
import { explainError, ReadOnlyError, type ErrorAction } from '../../window/ui/errorMessage.ts';
import { window } from '../../window/ui/window.ts';
import { executeCommand } from '../../window/ui/executeCommand.ts';
import type { CommandId } from '../../commandTable/commandTable.ts';

interface FailureContext {
  /** What to say if a change may have been made. */
  readonly unknownOutcome?: string | undefined;
  /** The account whose service was called, if any. */
  readonly account?: Account | undefined;
}

/** @param title such as “Couldn't restart ep-…”, without a period */
export async function showFailure(
  title: string,
  error: unknown,
  retry: () => void,
  { unknownOutcome, account }: FailureContext = {},
): Promise<void> {
  const { message, action } = explainError(error, unknownOutcome);
  const buttons: readonly Button[] =
    action === 'retry'
      ? [{ label: l10n.t('Try Again'), run: retry }]
      : action === 'newKey'
        ? buttonsForRejectedKey(account)
        : [buttonFor(action, error)];
  const labels = buttons.map(({ label }) => label);
  const chosen = await window.showErrorMessage(l10n.t('{0}: {1}', title, message), ...labels);
  buttons.find(({ label }) => label === chosen)?.run();
}

/** Runs what a button of a notification does. If it fails, logs and shows the error. @param title see `showFailure` */
export async function runOrShowFailure(
  log: Pick<Log, 'error'>,
  title: string,
  act: () => Promise<void>,
): Promise<void> {
  try {
    await act();
  } catch (error) {
    log.error(title, error);
    await showFailure(title, error, () => void runOrShowFailure(log, title, act));
  }
}

interface Button {
  readonly label: string;
  readonly run: () => unknown;
}

const commandButton = (label: string, command: CommandId, ...args: readonly unknown[]): Button => ({
  label,
  run: () => executeCommand(command, ...args),
});

const startLocalService = () =>
  commandButton(l10n.t('Start Local Service'), 'hostedPostgres.localService.start');

/**
 * Returns the buttons for a message about a rejected key. The user can't know the key of the local service, so the service is
 * started, which gives the window a valid key.
 */
function buttonsForRejectedKey(account: Account | undefined): readonly Button[] {
  if (account?.local === true) return [startLocalService()];
  // The window may have switched to another account by the time the user presses the button.
  const argument = account === undefined ? 'newKey' : accountId(account);
  const enter = commandButton(l10n.t('Enter New Key…'), 'hostedPostgres.account.connect', argument);
  if (account === undefined || !isPublicService(account.baseUrl)) return [enter];
  return [enter, { label: l10n.t('Get API Key'), run: () => env.openExternal(Uri.parse(PUBLIC_KEYS_PAGE)) }];
}

function buttonFor(action: Exclude<ErrorAction, 'retry' | 'newKey'>, error: unknown): Button {
  const projectId = error instanceof ReadOnlyError ? error.projectId : undefined;
  switch (action) {
    case 'log':
      return commandButton(l10n.t('Show Log'), 'hostedPostgres.log.show');
    case 'connect':
      return commandButton(l10n.t('Connect…'), 'hostedPostgres.account.connect');
    case 'organization':
      return commandButton(l10n.t('Choose Organization…'), 'hostedPostgres.account.organization');
    case 'localService':
      return startLocalService();
    case 'postgres':
      return commandButton(l10n.t('Set Up Postgres…'), 'hostedPostgres.localService.setUpPostgres');
    case 'mark':
      return projectId === undefined
        ? commandButton(l10n.t('Protect Account…'), 'hostedPostgres.account.mark')
        : commandButton(l10n.t('Protect Project…'), 'hostedPostgres.project.mark', {
            kind: 'project',
            projectId,
          });
    default:
      return action satisfies never;
  }
}
