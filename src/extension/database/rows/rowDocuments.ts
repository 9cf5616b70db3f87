/** The texts of documents with rows. They are only in memory: after a reload of the window, the rows are read again or gone. */
import { randomUUID } from 'node:crypto';
import { isSameBranch, type BranchRef } from '../../account/refs.ts';
import type { RestoreSource } from '../../account/refs.ts';
import { ROWS_SCHEME } from './rowsScheme.ts';

/** A table or query of a database. */
export interface RowSource {
  /** The text of one statement. */
  readonly sql: string;
  /** The name of the table in SQL, with quotes if it needs them; undefined for a query. */
  readonly table?: string | undefined;
  /** The name for titles. */
  readonly name: string;
}

/** What a document shows. Reading it again needs the password again. */
export interface RowRequest {
  readonly source: RowSource;
  readonly branch: BranchRef;
  readonly database: string;
  /** The branch that the rows are compared with. */
  readonly base?: BranchRef | undefined;
  /** The earlier data that the rows are compared with. */
  readonly past?: RestoreSource | undefined;
}

/** The documents that are kept. A comparison has two. */
const MAX_DOCUMENTS = 40;

interface DocumentUri {
  readonly scheme: string;
  readonly path: string;
  readonly query: string;
}

/** Keeps the texts of documents with rows. */
export class RowDocuments {
  readonly #documents = new Map<string, { readonly text: string; readonly request: RowRequest }>();

  /** @param title the title that an editor shows */
  add(title: string, text: string, request: RowRequest): DocumentUri {
    // A document that VS Code has opened again after a reload keeps its text, so no other may have its address.
    const query = randomUUID();
    this.#documents.set(query, { text, request });
    const [oldest] = this.#documents.keys();
    if (this.#documents.size > MAX_DOCUMENTS && oldest !== undefined) this.#documents.delete(oldest);
    // VS Code shows the last segment as the title.
    return { scheme: ROWS_SCHEME, path: `/${title.replaceAll('/', '∕')}`, query };
  }

  get({ scheme, query }: Pick<DocumentUri, 'scheme' | 'query'>) {
    return scheme === ROWS_SCHEME ? this.#documents.get(query) : undefined;
  }

  /** Replaces the id of a branch in all documents, such as after a restore from a snapshot. */
  replaceBranch(from: BranchRef, to: BranchRef): void {
    const replaced = (ref: BranchRef): BranchRef => (isSameBranch(from, ref) ? { ...to } : ref);
    for (const [query, { text, request }] of this.#documents) {
      const { branch, base } = request;
      const next = { ...request, branch: replaced(branch), ...(base && { base: replaced(base) }) };
      this.#documents.set(query, { text, request: next });
    }
  }

  forget({ scheme, query }: Pick<DocumentUri, 'scheme' | 'query'>): void {
    if (scheme === ROWS_SCHEME) this.#documents.delete(query);
  }
}
