/** The computes or branches of a project. A reply with the text of the last one is not parsed again. */
import type { ListReply } from '../api/records/parseResponse.ts';
import { RemoteList, type FetchedList } from './remoteList.ts';

/** Returns undefined if the service's reply is still this one. */
export type ConditionalFetch<Item> = (lastBody: string | undefined) => Promise<ListReply<Item> | undefined>;

export abstract class RecordList<Item extends { readonly id: string }> extends RemoteList<string, Item> {
  readonly #fetch: ConditionalFetch<Item>;
  /** The reply that the items are from; undefined after a change made from here. */
  #lastBody: string | undefined;

  constructor(fetch: ConditionalFetch<Item>) {
    super();
    this.#fetch = fetch;
  }

  override restoreFrom(last: RecordList<Item>): void {
    super.restoreFrom(last);
    this.#lastBody = last.#lastBody;
  }

  /** Takes over a record from the reply to a change. */
  put(item: Item): void {
    this.#lastBody = undefined;
    this.edit(new Map(this.items).set(item.id, item));
  }

  protected override async fetch(): Promise<FetchedList<string, Item>> {
    const { edits } = this;
    const reply = await this.#fetch(this.#lastBody);
    if (reply === undefined) return this;
    // If the list was edited in the meantime, this reply is discarded.
    if (edits === this.edits) this.#lastBody = reply.body;
    const { items, unreadable } = reply.list;
    return { items: new Map(items.map((item) => [item.id, item])), unreadable };
  }
}
