/**
 * A cached list of the service's. It is loaded on first use, kept when a refresh fails, and compared item by item, so that
 * listeners learn what changed and equal items stay the same objects.
 */
import { isDeepStrictEqual } from 'node:util';
import { isSameFailure } from '../../api/transport/errors.ts';
import type { UnreadableRecord } from '../../api/transport/parseResponse.ts';

type Items<Id, Item> = ReadonlyMap<Id, Item>;

/** The items of a reply with a list. */
export interface FetchedList<Id, Item> {
  /** The items in the service's order. */
  readonly items: Items<Id, Item>;
  readonly unreadable: readonly UnreadableRecord[];
}

/** How a list has changed. */
export interface ListDiff<Id, Item> {
  readonly before: Items<Id, Item>;
  /** Ids of the items that were replaced by different ones. */
  readonly changed: readonly Id[];
  /**
   * Whether the list was loaded for the first time, its map was changed in place, or its unreadable records or failure changed.
   */
  readonly isStructural: boolean;
}

interface ListState<Id, Item> extends FetchedList<Id, Item> {
  readonly failure: unknown;
  readonly isLoaded: boolean;
  readonly requestedAt: number;
}

const EMPTY = {
  items: new Map<never, never>(),
  unreadable: [],
  failure: undefined,
  isLoaded: false,
  requestedAt: 0,
};

/** Loads a list from the service and tells what has changed in it. */
export abstract class RemoteList<Id, Item> {
  #state: ListState<Id, Item> = EMPTY;
  #pending: Promise<void> | undefined;
  #edits = 0;
  #resets = 0;

  get items(): Items<Id, Item> {
    return this.#state.items;
  }

  get unreadable(): readonly UnreadableRecord[] {
    return this.#state.unreadable;
  }

  /** When the request for the list began, in milliseconds since 1970. */
  get requestedAt(): number {
    return this.#state.requestedAt;
  }

  /** Why the last load or refresh failed, if it did. */
  get failure(): unknown {
    return this.#state.failure;
  }

  /** Whether the whole list has been loaded. Until then, an empty list doesn't mean that there are no items. */
  get isLoaded(): boolean {
    return this.#state.isLoaded;
  }

  /** Whether the service has returned the item, also if its record couldn't be read. */
  isListed(id: Id): boolean {
    return this.items.has(id) || this.unreadable.some((record) => record.id === String(id));
  }

  /** How often the list was edited or reset. */
  protected get edits(): number {
    return this.#edits;
  }

  /** Call this when the connection has changed. Drops replies to earlier requests. Doesn't notify. */
  reset({ keepItems }: { readonly keepItems: boolean }): void {
    this.#state = keepItems ? { ...this.#state, failure: undefined } : EMPTY;
    this.#pending = undefined;
    this.#edits += 1;
    this.#resets += 1;
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

  /**
   * Call this after a local change, and before a refresh that must see all changes up to now. A request in progress is repeated,
   * because its reply may be older.
   */
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
      !isDeepStrictEqual(before.unreadable, after.unreadable) ||
      !isSameFailure(before.failure, after.failure);
    this.notify({ before: before.items, changed: updatedInPlace ?? changed, isStructural });
  }

  async #refresh(): Promise<void> {
    const resets = this.#resets;
    const end = (next: Partial<ListState<Id, Item>>) => {
      if (resets !== this.#resets) return;
      // This comes before the update, so that a listener that refreshes starts a new request.
      this.#pending = undefined;
      this.update(next);
    };
    try {
      let edits: number;
      let requestedAt: number;
      let fetched: FetchedList<Id, Item>;
      do {
        edits = this.#edits;
        requestedAt = Date.now();
        fetched = await this.fetch();
      } while (edits !== this.#edits && resets === this.#resets);
      end({ ...fetched, failure: undefined, isLoaded: true, requestedAt });
    } catch (error) {
      end({ failure: error });
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
    if (isDeepStrictEqual(old, item)) equal.push([id, old]);
    else changed.push(id);
  }
  return { items: equal.length === 0 ? after : new Map([...after, ...equal]), changed };
}
