/** Shows rows as read-only documents, which are forgotten when their editors are closed. */
import { TabInputText, TabInputTextDiff, window as editors, type Tab, type Uri } from 'vscode';
import type { Disposable } from '../../../base/disposable.ts';
import type { RowDocuments } from '../rows/rowDocuments.ts';
import { forgottenRowsText } from './rowsText.ts';

export const rowsDocumentText = (documents: RowDocuments, uri: Uri): string =>
  documents.get(uri)?.text ?? `${forgottenRowsText()}\n`;

export const forgetClosedRows = (documents: RowDocuments): Disposable =>
  editors.tabGroups.onDidChangeTabs(({ closed }) => {
    for (const uri of closed.flatMap(tabUris)) documents.forget(uri);
  });

/** Returns the documents that a tab shows. For a diff, the left one comes first. */
export function tabUris({ input }: Pick<Tab, 'input'>): readonly Uri[] {
  if (input instanceof TabInputTextDiff) return [input.original, input.modified];
  return input instanceof TabInputText ? [input.uri] : [];
}
