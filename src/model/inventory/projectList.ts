/** The projects of the account. The first load shows each page at once; a refresh shows all pages together. */
import { isDeepStrictEqual } from 'node:util';
import type { ProjectPage } from '../../api/client.ts';
import type { UnreadableRecord } from '../../api/records/parseResponse.ts';
import type { Project } from '../../api/records/records.ts';
import { RemoteList, type FetchedList, type ListDiff } from '../remoteList.ts';

/** A project of the account; without a record if the service couldn't return its details. */
interface ProjectEntry {
  readonly id: string;
  readonly record: Project | undefined;
}

export interface ProjectListDiff {
  /** Projects whose record changed. */
  readonly ids: readonly string[];
  /** Projects that were deleted. */
  readonly removed: readonly string[];
  /** Projects were added, removed or reordered, or the list as a whole changed. */
  readonly isStructural: boolean;
}

type Entries = ReadonlyMap<string, ProjectEntry>;

export class ProjectList extends RemoteList<string, ProjectEntry> {
  readonly #fetchPages: (onPage: (page: ProjectPage) => void) => Promise<void>;
  readonly #onChange: (change: ProjectListDiff) => void;
  #firstPage = Promise.withResolvers<void>();

  constructor(
    fetchPages: (onPage: (page: ProjectPage) => void) => Promise<void>,
    onChange: (change: ProjectListDiff) => void,
  ) {
    super();
    this.#fetchPages = fetchPages;
    this.#onChange = onChange;
  }

  /** The projects by id, in the service's order. */
  get entries(): Entries {
    return this.items;
  }

  /** Whether the service has returned no project at all, readable or not. */
  get isEmpty(): boolean {
    return this.items.size + this.unreadable.length === 0;
  }

  /** Loads once; resolves with the first page. @throws {ApiError} */
  async firstPage(): Promise<void> {
    if (this.isLoaded) return;
    const all = this.refresh();
    await Promise.race([this.#firstPage.promise, all]);
  }

  protected override async fetch(): Promise<FetchedList<string, ProjectEntry>> {
    this.#firstPage = Promise.withResolvers();
    const items = new Map<string, ProjectEntry>();
    const unreadable: UnreadableRecord[] = [];
    await this.#fetchPages((page) => {
      const replaced: string[] = [];
      for (const record of page.items) {
        const old = items.get(record.id);
        if (old !== undefined && isDeepStrictEqual(old.record, record)) continue;
        if (old !== undefined) replaced.push(record.id);
        items.set(record.id, { id: record.id, record });
      }
      for (const id of page.unavailable)
        if (!items.has(id)) items.set(id, this.items.get(id) ?? { id, record: undefined });
      unreadable.push(...page.unreadable);
      // The visible Map grows in place: copying it for each page would take quadratic time.
      const updatedInPlace = this.items === items ? replaced : undefined;
      if (!this.isLoaded)
        this.update({ items, unreadable: [...unreadable], failure: undefined }, updatedInPlace);
      this.#firstPage.resolve();
    });
    return { items, unreadable };
  }

  protected override notify({ before, changed, isStructural }: ListDiff<string, ProjectEntry>): void {
    const isChanged = isStructural || !isSameOrder(before, this.items);
    const removed = this.isLoaded && isChanged ? [...before.keys()].filter((id) => !this.#isListed(id)) : [];
    if (isChanged || changed.length > 0) this.#onChange({ ids: changed, removed, isStructural: isChanged });
  }

  #isListed(id: string): boolean {
    return this.items.has(id) || this.unreadable.some((record) => record.id === id);
  }
}

function isSameOrder(before: Entries, after: Entries): boolean {
  if (before === after) return true;
  if (before.size !== after.size) return false;
  const ids = after.keys();
  for (const id of before.keys()) if (ids.next().value !== id) return false;
  return true;
}
