/** Helps to get Postgres for the computes of the local service. */
import { env, l10n, Uri, window } from 'vscode';
import { LocalServiceError } from '../../localService/localServiceLease.ts';
import { announce } from '../../notifications/announce.ts';
import type { Command } from '../context.ts';
import { singleStep } from '../input/multiStepInput.ts';
import { pickOne, type Choice } from '../input/quickInput.ts';
import { start } from './localService.ts';

type SetupOption = 'install' | 'folder' | 'search';

export const setUpPostgres: Command = async (context, argument, run) => {
  const { localService, config } = context;
  run.failureMessage = l10n.t("Couldn't set up Postgres");
  if (localService.postgresProblem === undefined)
    return announce(l10n.t('The local service reported no problem with Postgres'), 'info');
  const option = await askOption();
  if (option === undefined) return;
  if (option === 'install') return void (await env.openExternal(Uri.parse(downloadPage())));
  const folder = option === 'folder' ? await askFolder() : config.postgresPath;
  if (option === 'folder' && folder === undefined) return;
  const problem = await localService.checkPostgres(folder);
  if (problem !== undefined) throw new LocalServiceError('noPostgres', problem);
  if (option === 'folder' && folder !== undefined) await config.setPostgresPath(folder);
  await start(context, argument, run);
  announce(l10n.t('Computes can start now'));
};

async function askOption(): Promise<SetupOption | undefined> {
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
  return await singleStep(l10n.t('Set Up Postgres'), (page) => pickOne(page, { placeholder, items }));
}

/** Of the system on which the computes run. */
function downloadPage(): string {
  const systems: Readonly<Record<string, string>> = { darwin: 'macosx', linux: 'linux', win32: 'windows' };
  const system = systems[process.platform];
  return `https://www.postgresql.org/download/${system === undefined ? '' : `${system}/`}`;
}

async function askFolder(): Promise<string | undefined> {
  const chosen = await window.showOpenDialog({
    title: l10n.t('Folder with postgres and initdb'),
    openLabel: l10n.t('Use This Folder'),
    canSelectFiles: false,
    canSelectFolders: true,
  });
  return chosen?.[0]?.fsPath;
}
