/** The computes or branches of a project. A reply with an unchanged body isn't parsed again. */
import type { ListReply } from '../../api/transport/parseResponse.ts';
import { RemoteList, type FetchedList, type ListDiff } from '../window/remoteList.ts';
import type { InventoryEvent } from './nodes.ts';

interface RecordListOptions<Item> {
  readonly projectId: string;
  /** Returns undefined if the body of the reply hasn't changed. */
  readonly fetch: (lastBody: string | undefined) => Promise<ListReply<Item> | undefined>;
  readonly onChange: (changes: readonly InventoryEvent[]) => void;
}

/** A list of a project's records that are loaded with one request. */
export abstract class RecordList<Item extends { readonly id: string }> extends RemoteList<string, Item> {
  readonly #options: RecordListOptions<Item>;
  /** The body that the items were read from; undefined after a local change. */
  #lastBody: string | undefined;

  constructor(options: RecordListOptions<Item>) {
    super();
    this.#options = options;
  }

  /** Takes over a record from the reply to a change. */
  put(item: Item): void {
    this.#lastBody = undefined;
    this.edit(new Map(this.items).set(item.id, item));
  }

  protected abstract changesIn(projectId: string, diff: ListDiff<string, Item>): readonly InventoryEvent[];

  protected override notify(diff: ListDiff<string, Item>): void {
    const { projectId, onChange } = this.#options;
    const changes = this.changesIn(projectId, diff);
    if (changes.length > 0) onChange(changes);
  }

  protected override async fetch(): Promise<FetchedList<string, Item>> {
    const { edits } = this;
    const reply = await this.#options.fetch(this.#lastBody);
    if (reply === undefined) return this;
    // If the list was edited or reset during the request, the reply is discarded.
    if (edits === this.edits) this.#lastBody = reply.body;
    const { items, unreadable } = reply.list;
    return { items: new Map(items.map((item) => [item.id, item])), unreadable };
  }
}
