/** Open psql: runs it in a terminal without a shell. psql asks for the password. */
import { env, l10n, ThemeIcon, Uri, window } from 'vscode';
import { findProgram } from '../../../base/findProgram.ts';
import { connectionString, passwordOf } from '../../../model/connection/connectionStrings.ts';
import { labelOf } from '../../../model/inventory/computeStatus.ts';
import { sanitize } from '../../text/sanitize.ts';
import type { Command } from '../context.ts';
import { singleStep } from '../input/multiStepInput.ts';
import { pickOne } from '../input/quickInput.ts';
import { requireTrust } from '../input/trust.ts';
import { askForLogin, findUri } from './connectionString.ts';
import { pickRecord } from './host.ts';

export const openPsql: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't open psql");
  requireTrust();
  const { postgresPath } = context.config;
  const program = findProgram('psql', postgresPath === undefined ? [] : [postgresPath]);
  if (program === undefined) return void offerPsql();
  const title = l10n.t('Open psql');
  const compute = await pickRecord(context, title, argument);
  if (compute === undefined) return;
  const request = { title, compute, scope: window.activeTextEditor?.document.uri };
  // Interactive sessions need state that a pooler in transaction mode doesn't keep.
  const login = await askForLogin(context, request, { canBePooled: false });
  if (login === undefined) return;
  // Works without a password, too. If the service can't be reached, psql says so.
  const uriWithPassword = await findUri(context, request, login).catch(() => undefined);
  if (!(await offerPassword(title, login.role, uriWithPassword && passwordOf(uriWithPassword)))) return;
  const uri = connectionString({ ...login, host: compute.host });
  window
    .createTerminal({
      name: `psql ${sanitize(labelOf(compute))}`,
      iconPath: new ThemeIcon('database'),
      shellPath: program,
      shellArgs: [`--dbname=${uri}`],
    })
    .show();
};

/** @returns false if the user canceled */
async function offerPassword(title: string, role: string, password: string | undefined): Promise<boolean> {
  if (password === undefined) return true;
  const items = [
    {
      label: l10n.t('Copy the password'),
      description: l10n.t('to paste it in the terminal'),
      isCopied: true,
    },
    { label: l10n.t('Enter it in the terminal'), isCopied: false },
  ];
  const placeholder = l10n.t('psql asks for the password of {0}', role);
  const picked = await singleStep(title, (page) => pickOne(page, { placeholder, items }));
  if (picked?.isCopied === true) await env.clipboard.writeText(password);
  return picked !== undefined;
}

async function offerPsql(): Promise<void> {
  const install = l10n.t('Get psql');
  const message = l10n.t("psql isn't installed, or isn't in the PATH that VS Code was started with.");
  if ((await window.showErrorMessage(message, install)) !== install) return;
  await env.openExternal(Uri.parse('https://www.postgresql.org/download/'));
}
