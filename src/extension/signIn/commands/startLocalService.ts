/** Starts and stops the local service, and helps to get Postgres for its computes. */
import { env, l10n, ProgressLocation, Uri, window as vscodeWindow } from 'vscode';
import { LocalServiceError } from '../../../localService/lease.ts';
import { announce } from '../../window/ui/announce.ts';
import { executeCommand } from '../../window/ui/executeCommand.ts';
import { window } from '../../window/ui/window.ts';
import type { Command, CommandContext } from '../../commandSupport/context.ts';
import { singleStep } from '../../window/ui/input/multiStepInput.ts';
import { pickOne, type Choice } from '../../window/ui/input/quickInput.ts';
import { showPostgresExtensions } from './extensions.ts';
import { refreshAll } from '../../commandSupport/refreshAll.ts';

/** The argument of links in the welcome texts. Such a text disappears when there are rows, and the keyboard focus with it. */
const FROM_VIEW = 'view';

/** Starts the local service and connects to it. @param argument `FROM_VIEW` to focus the rows */
export const startLocalService: Command = async (context, argument, run) => {
  const { localService, session } = context;
  run.failureMessage = l10n.t("Couldn't start the local service");
  const title = l10n.t('Starting the local service');
  // The first start takes seconds, and the view may not be visible, so show progress in the status bar.
  await window.withProgress({ location: ProgressLocation.Window, title }, () =>
    window.withProgress({ location: { viewId: 'hostedPostgres.computes' } }, () => localService.start()),
  );
  // VS Code reports changed secrets later, but callers expect a connection when the command ends.
  const before = session.connection;
  await session.reread();
  const isNew = session.connection !== before;
  // A new connection loads its lists itself.
  if (session.connection !== undefined && !isNew)
    await refreshAll(context).catch((error: unknown) => context.log.error('Refreshing', error));
  announce(l10n.t('The local service is running'));
  await showRows(context, argument, isNew);
};

/**
 * Shows the first rows of a new connection, and focuses the rows if the command comes from a link of the view.
 * @param argument of the command
 */
export async function showRows(
  { computesView }: CommandContext,
  argument: unknown,
  isNew = true,
): Promise<void> {
  const takesFocus = argument === FROM_VIEW && computesView.view.visible;
  if (isNew) await computesView.revealFirst();
  if (takesFocus) await executeCommand('hostedPostgres.computes.focus');
}

export const stopLocalService: Command = async ({ localService, session, computesView }, _argument, run) => {
  run.failureMessage = l10n.t("Couldn't stop the local service");
  const detail = l10n.t(
    'It stops in all windows, and connections to its computes are dropped. Projects, computes and data are kept for the next start.',
  );
  if ((await window.ask(l10n.t('Stop the local service?'), detail, l10n.t('Stop'))) === undefined) return;
  const hadRows = session.connection?.isLocal === true;
  const title = l10n.t('Stopping the local service');
  const wasRunning = await window.withProgress({ location: ProgressLocation.Window, title }, () =>
    localService.stop(),
  );
  if (wasRunning) announce(l10n.t('Stopped the local service'));
  else announce(l10n.t("The local service isn't running"), 'info');
  await session.reread();
  if (!hadRows || !computesView.view.visible) return;
  // The rows disappear, and the keyboard focus with them. So the view gets the focus only after that.
  const rowsGone = session.connection === undefined ? computesView.emptyRows.shown() : Promise.resolve();
  void rowsGone.then(() => executeCommand('hostedPostgres.computes.focus'));
};

type SetupOption = 'install' | 'folder' | 'search';

export const setUpPostgres: Command = async (context, argument, run) => {
  const { localService, config } = context;
  run.failureMessage = l10n.t("Couldn't set up Postgres");
  if (localService.postgresProblem === undefined) return await showPostgresExtensions(context);
  const option = await askHowToGetPostgres();
  if (option === undefined) return;
  if (option === 'install') return void (await env.openExternal(Uri.parse(downloadPage())));
  const folder = option === 'folder' ? await askForPostgresFolder() : config.postgresPath;
  if (option === 'folder' && folder === undefined) return;
  const { problem } = await localService.checkPostgres(folder);
  if (problem !== undefined) throw new LocalServiceError('noPostgres', problem);
  if (option === 'folder' && folder !== undefined) await config.setPostgresPath(folder);
  await startLocalService(context, argument, run);
  announce(l10n.t('Computes can start now'));
};

async function askHowToGetPostgres(): Promise<SetupOption | undefined> {
  const items: Choice<SetupOption>[] = [
    {
      label: l10n.t('Install Postgres…'),
      description: l10n.t('opens its download page'),
      value: 'install',
    },
    {
      label: l10n.t('Choose Folder…'),
      description: l10n.t('the one with postgres and initdb'),
      value: 'folder',
    },
    {
      label: l10n.t('Search Again'),
      description: l10n.t('after installing Postgres'),
      value: 'search',
    },
  ];
  const placeholder = l10n.t('How should the local service get Postgres?');
  return await singleStep(l10n.t('Set Up Postgres'), pickOne({ placeholder, items }));
}

/** Returns the download page for the system on which the computes run. */
function downloadPage(): string {
  const systems: Readonly<Record<string, string>> = { darwin: 'macosx', linux: 'linux', win32: 'windows' };
  const system = systems[process.platform];
  return `https://www.postgresql.org/download/${system === undefined ? '' : `${system}/`}`;
}

async function askForPostgresFolder(): Promise<string | undefined> {
  const chosen = await vscodeWindow.showOpenDialog({
    title: l10n.t('Folder with postgres and initdb'),
    openLabel: l10n.t('Use This Folder'),
    canSelectFiles: false,
    canSelectFolders: true,
  });
  return chosen?.[0]?.fsPath;
}
