/** Says in a notification what a command could not do. Background failures never come here. */
import { commands, l10n, window } from 'vscode';
import { explain, type Help } from './fault.ts';
import type { Disposable } from '../base/disposable.ts';
import type { Log } from './log.ts';
import type { Secrets } from './secrets.ts';
import { plain } from './plain.ts';

/** @param couldNot a sentence without its full stop, such as “Could not restart ep-…” */
export async function showFailure(couldNot: string, error: unknown, retry: () => void): Promise<void> {
  const { words, help } = explain(error);
  const { label, act } = offer(help, retry);
  const chosen = await window.showErrorMessage(l10n.t('{0}: {1}', plain(couldNot), words), label);
  if (chosen === label) act();
}

function offer(help: Help, retry: () => void): { readonly label: string; readonly act: () => void } {
  const run = (command: string, ...args: unknown[]) => void commands.executeCommand(command, ...args);
  switch (help) {
    case 'newKey':
      return { label: l10n.t('Enter New Key…'), act: () => run('hostedPostgres.account.connect', 'newKey') };
    case 'retry':
      return { label: l10n.t('Try Again'), act: retry };
    case 'log':
      return { label: l10n.t('Show Log'), act: () => run('hostedPostgres.log.show') };
    case 'organization':
      return {
        label: l10n.t('Open Settings'),
        act: () => run('workbench.action.openSettings', 'hostedPostgres.organizationId'),
      };
    case 'localService':
      return { label: l10n.t('Start Local Service'), act: () => run('hostedPostgres.localService.start') };
    default:
      return help satisfies never;
  }
}

/** Where the keyring is missing, locked or failing, the user goes on knowing how long. */
export const warnWithoutKeyring = (secrets: Secrets, log: Log): Disposable =>
  secrets.onDidFail((error) => {
    log.error('Storing a secret', error);
    void window.showWarningMessage(
      l10n.t(
        'The keyring of the system cannot be used: API keys are kept until this window closes, and no longer.',
      ),
    );
  });
