/** The texts of documents about rehearsals. They are only in memory, because messages of Postgres may contain values. */
import { randomUUID } from 'node:crypto';

export const REHEARSAL_SCHEME = 'hosted-postgres-rehearsal';

const MAX_DOCUMENTS = 20;

interface DocumentUri {
  readonly scheme: string;
  readonly path: string;
  readonly query: string;
}

/** Keeps the texts of documents about rehearsals. */
export class RehearsalDocuments {
  /** The files that the user has rehearsed. */
  readonly files = new Set<string>();
  readonly #texts = new Map<string, string>();

  /** @param title the title that an editor shows @param text the report in Markdown */
  add(title: string, text: string): DocumentUri {
    // A document that VS Code has opened again after a reload keeps its text, so no other may have its address.
    const query = randomUUID();
    this.#texts.set(query, text);
    const [oldest] = this.#texts.keys();
    if (this.#texts.size > MAX_DOCUMENTS && oldest !== undefined) this.#texts.delete(oldest);
    // VS Code shows the last segment as the title, and knows the format by its extension.
    return { scheme: REHEARSAL_SCHEME, path: `/${title.replaceAll('/', '∕')}.md`, query };
  }

  /** Returns the text of a report; undefined if the report was added before the window was reloaded. */
  text({ query }: Pick<DocumentUri, 'query'>): string | undefined {
    return this.#texts.get(query);
  }
}
