/** Open psql: a terminal that runs it and nothing else. No shell sees the arguments; psql asks for the password. */
import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import { env, ExtensionKind, extensions, l10n, ThemeIcon, Uri, window } from 'vscode';
import { connectionString, passwordOf } from '../../../model/connection/connectionStrings.ts';
import { labelOf } from '../../../model/inventory/computeStatus.ts';
import { sanitize } from '../../text/sanitize.ts';
import { askForLogin, uriOfService } from './connectionString.ts';
import type { Command } from '../context.ts';
import { computeOf } from './host.ts';
import { pickOne } from '../input/quickInput.ts';
import { requireTrust } from '../input/trust.ts';

export const openPsql: Command = async (context, argument, run) => {
  run.couldNot = l10n.t('Could not open psql');
  requireTrust();
  const program = findPsql(context.config.postgresPath);
  if (program === undefined) return void offerPsql();
  const title = l10n.t('Open psql');
  const compute = await computeOf(context, title, argument);
  const scope = window.activeTextEditor?.document.uri;
  if (compute === undefined) return;
  // A person's session needs what a pooler in transaction mode does not keep.
  const login = await askForLogin(context, { title, compute, scope }, { canBePooled: false });
  if (login === undefined) return;
  // What cannot be asked now psql says better, or it works all the same.
  const told = await uriOfService(context, { title, compute, scope }, login).catch(() => undefined);
  if (!(await offerPassword(title, login.role, told && passwordOf(told)))) return;
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

/** Nobody knows by heart what psql is about to ask for. @returns false when the user gave up */
async function offerPassword(title: string, role: string, password: string | undefined): Promise<boolean> {
  if (password === undefined) return true;
  const items = [
    { label: l10n.t('Copy the password'), description: l10n.t('to paste it there'), isWanted: true },
    { label: l10n.t('Type it there'), isWanted: false },
  ];
  const placeholder = l10n.t('psql asks for the password of {0}', role);
  const page = { title, step: 1, steps: 1, canGoBack: false };
  const picked = await pickOne(page, { placeholder, items });
  if (typeof picked !== 'object') return false;
  if (picked.isWanted) await env.clipboard.writeText(password);
  return true;
}

/** @returns its path; `psql` where terminals run on another machine, which is left to find it */
function findPsql(postgresPath: string | undefined): string | undefined {
  const ours = extensions.getExtension('hosted-postgres.hosted-postgres');
  if (env.remoteName !== undefined && ours?.extensionKind === ExtensionKind.UI) return 'psql';
  const program = process.platform === 'win32' ? 'psql.exe' : 'psql';
  const folders = (process.env['PATH'] ?? '')
    .split(path.delimiter)
    .filter((folder) => path.isAbsolute(folder));
  const candidates = [...(postgresPath === undefined ? [] : [postgresPath]), ...folders];
  return candidates.map((folder) => path.join(folder, program)).find(isProgram);
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false; // Not there, or not to be run: the next folder may have one.
  }
}

async function offerPsql(): Promise<void> {
  const install = l10n.t('Get psql');
  const words = l10n.t('psql is not installed, or not in the PATH that VS Code was started with.');
  if ((await window.showErrorMessage(words, install)) !== install) return;
  await env.openExternal(Uri.parse('https://www.postgresql.org/download/'));
}
