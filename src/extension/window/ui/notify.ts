/** Notifications about failed commands. Background failures go to the log and the view, never here. */
import { l10n } from 'vscode';
import type { Log } from './log.ts';
import { explainError, ReadOnlyError, type ErrorAction } from './errorMessage.ts';
import { window } from './window.ts';
import { executeCommand } from './executeCommand.ts';
import type { CommandId } from '../../commandTable/commandTable.ts';

/**
 * @param title such as “Couldn't restart ep-…”, without a period
 * @param unknownOutcome what to say if a change may have been made
 */
export async function showFailure(
  title: string,
  error: unknown,
  retry: () => void,
  unknownOutcome?: string,
): Promise<void> {
  const { message, action } = explainError(error, unknownOutcome);
  const button = action === 'retry' ? { label: l10n.t('Try Again') } : buttonFor(action, error);
  const chosen = await window.showErrorMessage(l10n.t('{0}: {1}', title, message), button.label);
  if (chosen !== button.label) return;
  if ('command' in button) void executeCommand(button.command, ...(button.args ?? []));
  else retry();
}

/** Runs what a button of a notification does. If it fails, logs and shows the error. @param title see `showFailure` */
export async function withRetry(
  log: Pick<Log, 'error'>,
  title: string,
  act: () => Promise<void>,
): Promise<void> {
  try {
    await act();
  } catch (error) {
    log.error(title, error);
    await showFailure(title, error, () => void withRetry(log, title, act));
  }
}

interface CommandButton {
  readonly label: string;
  readonly command: CommandId;
  readonly args?: readonly unknown[];
}

function buttonFor(action: Exclude<ErrorAction, 'retry'>, error: unknown): CommandButton {
  const projectId = error instanceof ReadOnlyError ? error.projectId : undefined;
  const buttons: Readonly<Record<typeof action, CommandButton>> = {
    newKey: {
      label: l10n.t('Enter New Key…'),
      command: 'hostedPostgres.account.connect',
      args: ['newKey'],
    },
    log: { label: l10n.t('Show Log'), command: 'hostedPostgres.log.show' },
    organization: { label: l10n.t('Choose Organization…'), command: 'hostedPostgres.account.organization' },
    localService: { label: l10n.t('Start Local Service'), command: 'hostedPostgres.localService.start' },
    postgres: { label: l10n.t('Set Up Postgres…'), command: 'hostedPostgres.localService.setUpPostgres' },
    mark:
      projectId === undefined
        ? { label: l10n.t('Mark Account…'), command: 'hostedPostgres.account.mark' }
        : {
            label: l10n.t('Mark Project…'),
            command: 'hostedPostgres.project.mark',
            args: [{ kind: 'project', projectId }],
          },
  };
  return buttons[action];
}
