/** Notifications about failed commands. Background failures go to the log and the view, never here. */
import { commands, l10n } from 'vscode';
import { explainError, ReadOnlyError, type ErrorAction } from '../text/errorMessage.ts';
import { window } from '../window.ts';

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
  const { label, act } = buttonFor(action, error, retry);
  const chosen = await window.showErrorMessage(l10n.t('{0}: {1}', title, message), label);
  if (chosen === label) act();
}

function buttonFor(
  action: ErrorAction,
  error: unknown,
  retry: () => void,
): { readonly label: string; readonly act: () => void } {
  const run = (command: string, ...args: unknown[]) => void commands.executeCommand(command, ...args);
  switch (action) {
    case 'newKey':
      return { label: l10n.t('Enter New Key…'), act: () => run('hostedPostgres.account.connect', 'newKey') };
    case 'retry':
      return { label: l10n.t('Try Again'), act: retry };
    case 'log':
      return { label: l10n.t('Show Log'), act: () => run('hostedPostgres.log.show') };
    case 'organization':
      return {
        label: l10n.t('Choose Organization…'),
        act: () => run('hostedPostgres.account.organization'),
      };
    case 'localService':
      return { label: l10n.t('Start Local Service'), act: () => run('hostedPostgres.localService.start') };
    case 'postgres':
      return {
        label: l10n.t('Set Up Postgres…'),
        act: () => run('hostedPostgres.localService.setUpPostgres'),
      };
    case 'mark': {
      const projectId = error instanceof ReadOnlyError ? error.projectId : undefined;
      return projectId === undefined
        ? { label: l10n.t('Mark Account…'), act: () => run('hostedPostgres.account.mark') }
        : {
            label: l10n.t('Mark Project…'),
            act: () => run('hostedPostgres.project.mark', { kind: 'project', projectId }),
          };
    }
    default:
      return action satisfies never;
  }
}
