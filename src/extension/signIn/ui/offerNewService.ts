/**
 * After an update of the extension, a reloaded window joins the local service of the earlier version, which other windows may use,
 * and which lacks the newest calls. So the window offers to replace it.
 */
import { l10n } from 'vscode';
import type { Disposable } from '../../../base/disposable.ts';
import { executeCommand } from '../../window/ui/executeCommand.ts';
import { window } from '../../window/ui/window.ts';
import type { LocalService } from './localService.ts';

export const offerNewService = (localService: Pick<LocalService, 'onDidJoinEarlier'>): Disposable =>
  localService.onDidJoinEarlier(() => void offerRestart());

async function offerRestart(): Promise<void> {
  const question = l10n.t(
    'The local service still runs an earlier version. A restart drops the connections to its computes.',
  );
  const restart = l10n.t('Restart Local Service');
  const chosen = await window.showInformationMessage(question, restart);
  if (chosen === restart) await executeCommand('hostedPostgres.localService.start');
}
