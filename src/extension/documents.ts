/**
 * The read-only documents of schemas, rows, details and operations. They are registered at activation, because VS Code may reopen
 * them after a reload.
 */
import { EventEmitter, workspace, type Uri } from 'vscode';
import { DisposableStore, type Disposable } from '../base/disposable.ts';
import { DETAILS_SCHEME, OPERATIONS_SCHEME } from './browse/detailsScheme.ts';
import { ROWS_SCHEME } from './database/rows/rowsScheme.ts';
import { SCHEMA_SCHEME } from './database/schema/schemaScheme.ts';

interface DocumentTexts {
  schemaText(uri: Uri): Promise<string>;
  detailsText(uri: Uri): Promise<string>;
  operationsText(uri: Uri): Promise<string>;
  rowsText(uri: Uri): string;
}

/** The events to fire when the text of a document has changed. */
export interface DocumentEvents {
  readonly schemasChanged: EventEmitter<Uri>;
  readonly detailsChanged: EventEmitter<Uri>;
  readonly operationsChanged: EventEmitter<Uri>;
}

export function registerDocuments(texts: () => Promise<DocumentTexts>): DocumentEvents & Disposable {
  const disposables = new DisposableStore();
  const registerProvider = (scheme: string, provideTextDocumentContent: (uri: Uri) => Promise<string>) => {
    const changed = disposables.add(new EventEmitter<Uri>());
    const provider = { onDidChange: changed.event, provideTextDocumentContent };
    disposables.add(workspace.registerTextDocumentContentProvider(scheme, provider));
    return changed;
  };
  // The texts of these documents never change.
  registerProvider(ROWS_SCHEME, async (uri) => (await texts()).rowsText(uri));
  return {
    schemasChanged: registerProvider(SCHEMA_SCHEME, async (uri) => (await texts()).schemaText(uri)),
    detailsChanged: registerProvider(DETAILS_SCHEME, async (uri) => (await texts()).detailsText(uri)),
    operationsChanged: registerProvider(OPERATIONS_SCHEME, async (uri) =>
      (await texts()).operationsText(uri),
    ),
    dispose: () => disposables.dispose(),
  };
}
