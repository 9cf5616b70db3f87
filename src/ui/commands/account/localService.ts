/** Start and stop the local service. */
import { l10n, ProgressLocation, window } from 'vscode';
import { announce } from '../../notifications/announce.ts';
import { confirm } from '../input/confirm.ts';
import type { Command } from '../context.ts';

/** Runs it and connects to it. */
export const start: Command = async ({ localService, session }, _argument, run) => {
  run.couldNot = l10n.t('Could not start the local service');
  const title = l10n.t('Starting the local service');
  // The first start takes seconds: told where the welcome text with its button stays until then, and wherever one is.
  const startService = () => localService.start();
  await window.withProgress({ location: ProgressLocation.Window, title }, () =>
    window.withProgress({ location: { viewId: 'hostedPostgres.computes' } }, startService),
  );
  // Whoever waited for the command finds the window connected; VS Code tells of a secret later.
  await session.reread();
};

export const stop: Command = async ({ localService }, _argument, run) => {
  run.couldNot = l10n.t('Could not stop the local service');
  const detail = l10n.t(
    'It ends in every window, and connections to its computes are dropped. Projects, computes and data stay for the next start.',
  );
  if (!(await confirm(l10n.t('Stop the local service?'), detail, l10n.t('Stop')))) return;
  const title = l10n.t('Stopping the local service');
  const ran = await window.withProgress({ location: ProgressLocation.Window, title }, () =>
    localService.stop(),
  );
  if (ran) announce(l10n.t('The local service was stopped'));
  else announce(l10n.t('The local service does not run'), 'info');
};
