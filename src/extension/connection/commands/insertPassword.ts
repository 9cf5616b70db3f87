/** Insert Password: after the completion of a connection string in an env file, inserts what Copy Connection String would copy. */
import { l10n, Range, Selection, window as editors, type Uri } from 'vscode';
import { fieldsOf } from '../../../base/fieldsOf.ts';
import { sanitize } from '../../../base/sanitize.ts';
import type { Compute } from '../../../api/records/records.ts';
import type { Command, CommandContext } from '../../commandSupport/context.ts';
import { requireCompute } from '../../commandSupport/pickers.ts';
import { readIgnoreState } from '../../envFile/gitIgnored.ts';
import { runGit } from '../../window/ui/git.ts';
import { resolveWorkspaceFile } from '../../envFile/ui/realFile.ts';
import { asComputeNode } from '../../inventory/nodes.ts';
import { loadIfOffered } from '../../window/ui/input/dialogs.ts';
import { requireTrust } from '../../window/ui/workspace.ts';
import { window } from '../../window/ui/window.ts';
import { computeHost, findComputeLogin } from '../branchLogin.ts';
import { connectionString, type ConnectionStringParts } from '../connectionStrings.ts';
import { findCredentials, proposedLogin } from './login.ts';

/** @param argument a compute's node, with the text that was inserted. The placeholder stays if there is no password */
export const insertPassword: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't insert the password");
  requireTrust();
  const node = asComputeNode(argument);
  const { inserted, isPooled } = fieldsOf(argument);
  const editor = editors.activeTextEditor;
  if (node === undefined || editor === undefined || typeof inserted !== 'string') return;
  const { document } = editor;
  const { line } = editor.selection.active;
  if (!(await canTakePassword(document.uri))) return;
  const compute = await requireCompute(context, node);
  const login = await findLogin(context, compute, document.uri, isPooled === true);
  const start = document.lineAt(line).text.indexOf(inserted);
  if (login === undefined || start < 0) return;
  const text = connectionString(login);
  const range = new Range(line, start, line, start + inserted.length);
  if (!(await editor.edit((edit) => edit.replace(range, text)))) return;
  const end = range.start.translate(0, text.length);
  editor.selection = new Selection(end, end);
};

/** Whether git can't commit the file. If it can, shows why the password isn't inserted. */
async function canTakePassword({ fsPath }: Uri): Promise<boolean> {
  const { path } = await resolveWorkspaceFile(fsPath);
  const ignored = await readIgnoreState(runGit, path);
  if (ignored === 'ignored' || ignored === 'outside') return true;
  await window.showInformationMessage(
    l10n.t("The password wasn't inserted, because Git doesn't ignore {0}.", sanitize(path)),
  );
  return false;
}

/** Asks nothing. @returns undefined if the service doesn't provide the password */
async function findLogin(
  context: CommandContext,
  compute: Compute,
  scope: Uri,
  pooled: boolean,
): Promise<ConnectionStringParts | undefined> {
  const title = l10n.t('Insert Password');
  const host = computeHost(compute, pooled);
  const proposal = proposedLogin(context, { title, compute, scope, allowsPooled: true });
  const login = proposal && { ...proposal, pooled };
  const credentials = login && (await findCredentials(context, { title, compute }, login));
  if (login !== undefined && credentials !== undefined) return { ...login, ...credentials, host };
  const connection = context.session.requireConnection();
  const found = await loadIfOffered(title, async () => findComputeLogin(connection, compute));
  return found === undefined || found.missing !== undefined ? undefined : { ...found, host };
}
