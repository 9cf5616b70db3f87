/** Shows schemas as read-only documents, which VS Code may reopen after a reload. */
import { Uri, workspace, type EventEmitter } from 'vscode';
import { DisposableStore, type Disposable } from '../../base/disposable.ts';
import type { Schemas } from '../../model/schema/schemas.ts';
import { SCHEMA_SCHEME } from '../../model/schema/schemaScheme.ts';
import { explainError } from '../text/errorMessage.ts';

export class SchemaDocuments implements Disposable {
  readonly #schemas: Schemas;
  readonly #disposables = new DisposableStore();

  /** @param changed fired when the text of a document has changed */
  constructor(schemas: Schemas, changed: EventEmitter<Uri>) {
    this.#schemas = schemas;
    this.#disposables.add(
      schemas.onDidChange(({ path, query }) =>
        changed.fire(Uri.from({ scheme: SCHEMA_SCHEME, path, query })),
      ),
    );
    this.#disposables.add(workspace.onDidCloseTextDocument(({ uri }) => schemas.forget(uri)));
  }

  /** @throws {Error} with a message for the user */
  async text(uri: Uri): Promise<string> {
    try {
      return await this.#schemas.text(uri);
    } catch (error) {
      throw new Error(explainError(error).message, { cause: error });
    }
  }

  dispose(): void {
    this.#disposables.dispose();
  }
}
