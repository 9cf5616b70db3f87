/** Editors with rows or a schema of a branch whose data has been replaced, such as by Undo. */
import { commands, window as editors, type Tab, type Uri } from 'vscode';
import { isSameBranch, type BranchRef } from '../../account/refs.ts';
import type { CommandContext } from '../../commandSupport/context.ts';
import { executeCommand } from '../../window/ui/executeCommand.ts';
import { ROWS_SCHEME } from '../rows/rowsScheme.ts';
import { parseSchemaUri } from '../schema/schemas.ts';
import { SCHEMA_SCHEME } from '../schema/schemaScheme.ts';
import { tabUris } from '../ui/rowsDocuments.ts';

export const findOutdatedEditors = (context: CommandContext, ref: BranchRef): readonly Tab[] =>
  editors.tabGroups.all
    .flatMap(({ tabs }) => tabs)
    .filter((tab) => tabUris(tab).some((uri) => showsPresentData(context, uri, ref)));

function showsPresentData({ rows }: CommandContext, uri: Uri, ref: BranchRef): boolean {
  const request = rows.get(uri)?.request;
  if (request !== undefined) return isSameBranch(ref, request.branch) || isSameBranch(ref, request.base);
  const origin = uri.scheme === SCHEMA_SCHEME && uri.query === ref.account ? parseSchemaUri(uri) : undefined;
  return origin !== undefined && origin.at === undefined && isSameBranch(ref, { ...ref, ...origin });
}

/** Shows each, because the commands that read again are for the active editor. */
export async function refreshTabs(tabs: readonly Tab[]): Promise<void> {
  for (const tab of tabs) {
    const [first, second] = tabUris(tab);
    if (first === undefined) continue;
    if (second === undefined) await commands.executeCommand('vscode.open', first, { preview: false });
    else await commands.executeCommand('vscode.diff', first, second, tab.label, { preview: false });
    const isRows = first.scheme === ROWS_SCHEME;
    await executeCommand(isRows ? 'hostedPostgres.rows.refresh' : 'hostedPostgres.schema.refresh');
  }
}
