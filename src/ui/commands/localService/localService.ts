import { l10n, ProgressLocation } from 'vscode';
import { announce } from '../../notifications/announce.ts';
import type { Command } from '../context.ts';
import { confirm } from '../input/dialogs.ts';
import { refreshAll } from '../view.ts';
import { window } from '../../window.ts';

/** Starts the local service and connects to it. */
export const start: Command = async (context, _argument, run) => {
  const { localService, session } = context;
  run.failureMessage = l10n.t("Couldn't start the local service");
  const title = l10n.t('Starting the local service');
  // The first start takes seconds. The status bar says what is happening if the view isn't visible.
  await window.withProgress({ location: ProgressLocation.Window, title }, () =>
    window.withProgress({ location: { viewId: 'hostedPostgres.computes' } }, () => localService.start()),
  );
  // VS Code reports changed secrets later, but callers of the command expect to be connected.
  const before = session.connection;
  await session.reread();
  // Another connection loads its lists by itself.
  if (session.connection !== undefined && session.connection === before)
    await refreshAll(context).catch((error: unknown) => context.log.error('Refreshing', error));
  announce(l10n.t('The local service is running'));
};

export const stop: Command = async ({ localService }, _argument, run) => {
  run.failureMessage = l10n.t("Couldn't stop the local service");
  const detail = l10n.t(
    'It stops in all windows, and connections to its computes are dropped. Projects, computes and data are kept for the next start.',
  );
  if (!(await confirm(l10n.t('Stop the local service?'), detail, l10n.t('Stop')))) return;
  const title = l10n.t('Stopping the local service');
  const wasRunning = await window.withProgress({ location: ProgressLocation.Window, title }, () =>
    localService.stop(),
  );
  if (wasRunning) announce(l10n.t('Stopped the local service'));
  else announce(l10n.t("The local service isn't running"), 'info');
};
