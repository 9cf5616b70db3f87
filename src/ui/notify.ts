/** Notifications about failed commands. Background failures go to the log and the view, never here. */
import { commands, l10n, window } from 'vscode';
import { explain, type Help } from './fault.ts';
import type { Disposable } from '../base/disposable.ts';
import type { Log } from './log.ts';
import type { Secrets } from './secrets.ts';
import { plain } from './plain.ts';

/** @param title such as “Couldn't restart ep-…”, without a period */
export async function showFailure(title: string, error: unknown, retry: () => void): Promise<void> {
  const { words, help } = explain(error);
  const { label, act } = offer(help, retry);
  const chosen = await window.showErrorMessage(l10n.t('{0}: {1}', plain(title), words), label);
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
    default:
      return help satisfies never;
  }
}

/** Without a working keyring, the user should know how long the keys are kept. */
export const warnWithoutKeyring = (secrets: Secrets, log: Log): Disposable =>
  secrets.onDidFail((error) => {
    log.error('Storing a secret', error);
    void window.showWarningMessage(
      l10n.t("Couldn't use the system keyring. API keys are kept only until this window closes."),
    );
  });
