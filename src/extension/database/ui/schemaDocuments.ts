/** Shows schemas as read-only documents, which VS Code may reopen after a reload. */
import { Uri, workspace, type EventEmitter } from 'vscode';
import { DisposableStore, type Disposable } from '../../../base/disposable.ts';
import { splitOwners, withoutSessionSettings } from '../../../base/sql/dumpObjects.ts';
import type { Schemas } from '../schema/schemas.ts';
import { SCHEMA_SCHEME } from '../schema/schemaScheme.ts';
import { withExplainedErrors } from '../../window/ui/errorMessage.ts';

/** @param changed fired when the text of a document has changed */
export function followSchemas(schemas: Schemas, changed: EventEmitter<Uri>): Disposable {
  const disposables = new DisposableStore();
  disposables.add(
    schemas.onDidChange(({ path, query }) => changed.fire(Uri.from({ scheme: SCHEMA_SCHEME, path, query }))),
  );
  disposables.add(workspace.onDidCloseTextDocument(({ uri }) => schemas.forget(uri)));
  return disposables;
}

/** @throws {Error} with a message for the user */
export const schemaText = (schemas: Schemas, uri: Uri): Promise<string> =>
  withExplainedErrors(async () => splitOwners(withoutSessionSettings(await schemas.text(uri))).text);
