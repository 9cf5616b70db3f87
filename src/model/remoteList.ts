/**
 * A cached list of the service's. It is loaded on first use, kept when a refresh fails, and compared item by item, so that
 * listeners learn what changed and equal items stay the same objects.
 */
import { isSameFailure } from '../api/errors.ts';
import type { ListReply, UnreadableRecord } from '../api/records/parseResponse.ts';
import { isEqual } from '../base/equal.ts';

type Items<Id, Item> = ReadonlyMap<Id, Item>;

export interface FetchedList<Id, Item> {
  /** In the service's order. */
  readonly items: Items<Id, Item>;
  readonly unreadable: readonly UnreadableRecord[];
}

export interface ListDiff<Id, Item> {
  readonly before: Items<Id, Item>;
  /** Ids of the items that were replaced by different ones. */
  readonly changed: readonly Id[];
  /** Whether the list was loaded for the first time, or its unreadable records or its failure changed. */
  readonly isStructural: boolean;
}

interface ListState<Id, Item> extends FetchedList<Id, Item> {
  readonly failure: unknown;
  readonly isLoaded: boolean;
}

export abstract class RemoteList<Id, Item> {
  #state: ListState<Id, Item> = { items: new Map(), unreadable: [], failure: undefined, isLoaded: false };
  #pending: Promise<void> | undefined;
  #edits = 0;

  get items(): Items<Id, Item> {
    return this.#state.items;
  }

  get unreadable(): readonly UnreadableRecord[] {
    return this.#state.unreadable;
  }

  /** Why the last load or refresh failed, if it did. */
  get failure(): unknown {
    return this.#state.failure;
  }

  /** Whether the whole list has been loaded. Until then, an empty list doesn't mean that there are no items. */
  get isLoaded(): boolean {
    return this.#state.isLoaded;
  }

  /** How often the list was edited. */
  protected get edits(): number {
    return this.#edits;
  }

  /** Starts with the items of an earlier list of the same account. */
  restoreFrom(last: RemoteList<Id, Item>): void {
    this.#state = { ...last.#state, failure: undefined };
  }

  /** Loads once. @throws {ApiError} */
  async load(): Promise<void> {
    if (!this.isLoaded) await this.refresh();
  }

  /** Loads for callers that only show the list: once, and not again after a failure. Never rejects. */
  async ensureLoaded(): Promise<void> {
    if (this.failure === undefined) await this.load().catch(() => undefined);
  }

  /** Requests the list again; concurrent callers share a request. @throws {ApiError} */
  refresh(): Promise<void> {
    this.#pending ??= this.#refresh();
    return this.#pending;
  }

  /** Call this after a local change. A request in progress is repeated, because its reply may be older than the change. */
  edit(items: Items<Id, Item> = this.items): void {
    this.#edits += 1;
    this.update({ items });
  }

  clearFailure(): void {
    this.update({ failure: undefined });
  }

  protected abstract fetch(): Promise<FetchedList<Id, Item>>;

  protected abstract notify(change: ListDiff<Id, Item>): void;

  /** @param updatedInPlace if `items` is the current Map, changed in place: the ids of the replaced items */
  protected update(next: Partial<ListState<Id, Item>>, updatedInPlace?: readonly Id[]): void {
    const before = this.#state;
    const after = { ...before, ...next };
    const { items, changed } = keepEqual(before.items, after.items);
    this.#state = { ...after, items };
    const isStructural =
      updatedInPlace !== undefined ||
      before.isLoaded !== after.isLoaded ||
      !isEqual(before.unreadable, after.unreadable) ||
      !isSameFailure(before.failure, after.failure);
    this.notify({ before: before.items, changed: updatedInPlace ?? changed, isStructural });
  }

  async #refresh(): Promise<void> {
    try {
      let edits: number;
      let fetched: FetchedList<Id, Item>;
      do {
        edits = this.#edits;
        fetched = await this.fetch();
      } while (edits !== this.#edits);
      // Reset this first, so that a listener that refreshes starts a new request.
      this.#pending = undefined;
      this.update({ ...fetched, failure: undefined, isLoaded: true });
    } catch (error) {
      this.#pending = undefined;
      this.update({ failure: error });
      throw error;
    }
  }
}

/** Keeps the old objects of items that are equal. */
function keepEqual<Id, Item>(before: Items<Id, Item>, after: Items<Id, Item>) {
  const changed: Id[] = [];
  const equal: [Id, Item][] = [];
  if (before === after) return { items: after, changed };
  for (const [id, item] of after) {
    const old = before.get(id);
    if (old === undefined || old === item) continue;
    if (isEqual(old, item)) equal.push([id, old]);
    else changed.push(id);
  }
  return { items: equal.length === 0 ? after : new Map([...after, ...equal]), changed };
}

/** Returns undefined if the body of the reply hasn't changed. */
export type ConditionalFetch<Item> = (lastBody: string | undefined) => Promise<ListReply<Item> | undefined>;

/** The computes or branches of a project. A reply with an unchanged body isn't parsed again. */
export abstract class RecordList<Item extends { readonly id: string }> extends RemoteList<string, Item> {
  readonly #fetch: ConditionalFetch<Item>;
  /** The body that the items were read from; undefined after a local change. */
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
    // If the list was edited during the request, the reply is discarded.
    if (edits === this.edits) this.#lastBody = reply.body;
    const { items, unreadable } = reply.list;
    return { items: new Map(items.map((item) => [item.id, item])), unreadable };
  }
}
