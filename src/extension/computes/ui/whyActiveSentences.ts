/** Why a compute is active, in the user's language. The service is asked when the user looks, never by a timer. */
import type { Compute } from '../../../api/records/records.ts';
import type { Session } from '../../account/session.ts';
import { whyActiveSentence, type WhyActiveQuestion } from '../whyActiveSentence.ts';
import { windowTranslator } from '../../window/ui/translator.ts';

/** Milliseconds that a tooltip waits for the sentence. */
const HOVER_LIMIT = 3000;

/** Asks why computes are active, for tooltips and documents. */
export class WhyActiveSentences {
  readonly #session: Pick<Session, 'connection'>;
  /**
   * The sentences in documents. They are kept, because VS Code reads an open document again with each refresh of the lists, for
   * which there is a timer.
   */
  readonly #kept = new Map<string, { readonly state: string; readonly text: Promise<string | undefined> }>();

  constructor(session: Pick<Session, 'connection'>) {
    this.#session = session;
  }

  /** Returns the sentence for a tooltip. At a hosted service, no statement is run for it. */
  async forTooltip(compute: Compute): Promise<string | undefined> {
    return await this.#ask(compute, { asksPostgres: false, signal: AbortSignal.timeout(HOVER_LIMIT) });
  }

  /** Returns the sentence for a document: the last one, until the user asks again or the state of the compute changes. */
  async forDocument(compute: Compute): Promise<string | undefined> {
    const state = `${compute.current_state} ${compute.pending_state ?? ''} ${compute.disabled === true}`;
    const id = this.#keyOf(compute.id);
    const kept = this.#kept.get(id);
    const found = kept?.state === state ? kept : { state, text: this.#ask(compute, { asksPostgres: true }) };
    this.#kept.set(id, found);
    return await found.text;
  }

  /** Drops the sentence that is kept, because the user asks again. */
  forget(computeId: string): void {
    this.#kept.delete(this.#keyOf(computeId));
  }

  /** Ids are unique only within an account. */
  #keyOf(computeId: string): string {
    return `${this.#session.connection?.accountId} ${computeId}`;
  }

  async #ask(compute: Compute, question: WhyActiveQuestion): Promise<string | undefined> {
    const { connection } = this.#session;
    return connection && (await whyActiveSentence(connection, compute, windowTranslator, question));
  }
}
