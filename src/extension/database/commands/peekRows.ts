/** Peek Rows: the first rows of a table or query, as a read-only document. */
import { commands, l10n, Uri, ViewColumn, window as editors, type Tab } from 'vscode';
import { announce } from '../../window/ui/announce.ts';
import { pickBranch } from '../../commandSupport/branchPicker.ts';
import type { Command, CommandContext, CommandRun } from '../../commandSupport/context.ts';
import { sanitize } from '../../../base/sanitize.ts';
import type { RowRequest } from '../rows/rowDocuments.ts';
import { tabUris } from '../ui/rowsDocuments.ts';
import { rowCountText, rowsText, rowsTitle } from '../ui/rowsText.ts';
import { envFileBranch } from '../../commandSupport/envFileBranch.ts';
import { findRowSource } from './givenSource.ts';
import { prepareDatabase, pickTable, readWithProgress, type PreparedDatabase } from './prepareDatabase.ts';

export const peekRows: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't read rows");
  const title = l10n.t('Peek Rows');
  const given = findRowSource(context, argument);
  const branch = given.branch ?? (await pickReadingBranch(context, title, argument));
  if (branch === undefined) return;
  const prepared = await prepareDatabase(context, { title, branch, database: given.database });
  const source = given.source ?? (prepared && (await pickTable(title, prepared)));
  if (prepared === undefined || source === undefined) return;
  const isBeside = given.source !== undefined && given.branch === undefined;
  const column = isBeside ? ViewColumn.Beside : ViewColumn.Active;
  const request = { source, branch, database: prepared.login.database };
  await showRows(context, run, { prepared, request, column });
};

/** Reads the rows of the active document again, from a button in its title. */
export async function refreshPeek(
  context: CommandContext,
  run: CommandRun,
  tab: Tab,
  request: RowRequest,
): Promise<void> {
  const { branch, database } = request;
  const prepared = await prepareDatabase(context, { title: l10n.t('Refresh Rows'), branch, database });
  if (prepared === undefined) return;
  if (!(await showRows(context, run, { prepared, request, column: tab.group.viewColumn }))) return;
  // The title of the new document has another time.
  await editors.tabGroups.close(tab, true);
}

/** Returns undefined if the user canceled. @throws {Error} with a message for the user */
async function pickReadingBranch(context: CommandContext, title: string, argument: unknown) {
  const { accountId: account } = context.session.requireConnection();
  const picked = await pickBranch(context, title, argument, undefined, {
    preferred: envFileBranch(context),
  });
  return picked && { account, projectId: picked.projectId, branchId: picked.branchId };
}

interface Shown {
  readonly prepared: PreparedDatabase;
  readonly request: RowRequest;
  readonly column: ViewColumn;
}

/** Returns false if the user canceled. */
async function showRows(
  context: CommandContext,
  run: CommandRun,
  { prepared, request, column }: Shown,
): Promise<boolean> {
  const { login, project, branchName } = prepared;
  const name = sanitize(request.source.name);
  run.failureMessage = l10n.t("Couldn't read {0} on {1}", name, branchName);
  const rows = await import('../rows/reading.ts');
  const progress = l10n.t('Reading {0} on {1}', name, branchName);
  const peeked = await readWithProgress(progress, rows.READ_SECONDS, (signal) =>
    rows.peekRows(login, request.source.sql, signal),
  );
  if (peeked === undefined) return false;
  const place = { name, project, branch: branchName, database: login.database, time: new Date() };
  const uri = Uri.from(context.rows.add(rowsTitle(place), rowsText(peeked, place), request));
  await commands.executeCommand('vscode.open', uri, { viewColumn: column, preview: false });
  announce(l10n.t('{0} on {1}: {2}', name, branchName, rowCountText(peeked)));
  return true;
}

/** Returns the document with rows in the active editor. */
export function activeRows({
  rows,
}: CommandContext): { readonly tab: Tab; readonly request: RowRequest } | undefined {
  const tab = editors.tabGroups.activeTabGroup.activeTab;
  const uri = tab && tabUris(tab).at(-1);
  const request = uri && rows.get(uri)?.request;
  return tab && request && { tab, request };
}
