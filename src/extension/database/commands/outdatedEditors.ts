/** Editors with rows or a schema of a branch whose data has been replaced, such as by Undo. */
import { commands, window as editors, type Tab, type Uri } from 'vscode';
import { isSameBranch, type BranchRef } from '../../account/refs.ts';
import type { CommandContext } from '../../commandSupport/context.ts';
import { executeCommand } from '../../window/ui/executeCommand.ts';
import { ROWS_SCHEME } from '../rows/rowsScheme.ts';
import { parseSchemaUri } from '../schema/schemas.ts';
import { SCHEMA_SCHEME } from '../schema/schemaScheme.ts';
import { tabUris } from '../ui/rowsDocuments.ts';

type Documents = Pick<CommandContext, 'rows' | 'schemas'>;

const findTabs = (shows: (uri: Uri) => boolean): readonly Tab[] =>
  editors.tabGroups.all.flatMap(({ tabs }) => tabs).filter((tab) => tabUris(tab).some(shows));

/** Finds the editors with present rows, or the present schema, of a branch whose data has just been replaced. */
export const findOutdatedEditors = (documents: Documents, ref: BranchRef): readonly Tab[] =>
  findTabs((uri) => showsPresentRows(documents, uri, ref) || showsPresentSchema(documents, uri, ref));

function showsPresentRows({ rows }: Documents, uri: Uri, ref: BranchRef): boolean {
  const { branch, base } = rows.get(uri)?.request ?? {};
  return isSameBranch(ref, branch) || isSameBranch(ref, base);
}

function showsPresentSchema({ schemas }: Documents, uri: Uri, ref: BranchRef): boolean {
  if (uri.scheme !== SCHEMA_SCHEME || uri.query !== ref.account) return false;
  const origin = parseSchemaUri({ path: schemas.currentPath(uri) });
  return origin !== undefined && origin.at === undefined && isSameBranch(ref, { ...ref, ...origin });
}

/** Gives the open editors of a branch its new id, such as after a restore from a snapshot, so that they stay those of the branch. */
export function replaceBranchInEditors(documents: Documents, from: BranchRef, to: BranchRef): void {
  documents.rows.replaceBranch(from, to);
  const shows = (uri: Uri) => showsPresentSchema(documents, uri, from);
  for (const uri of findTabs(shows).flatMap(tabUris))
    if (shows(uri)) documents.schemas.replaceBranch(uri, to.branchId);
}

/** Reads tabs again. Each is shown for that, because the commands that read again are for the active editor. */
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
