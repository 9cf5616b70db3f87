/** The projects of the account. The first load shows each page at once; a refresh shows all pages together. */
import { isDeepStrictEqual } from 'node:util';
import type { ProjectPage } from '../../api/client.ts';
import type { UnreadableRecord } from '../../api/transport/parseResponse.ts';
import type { Project } from '../../api/records/records.ts';
import { RemoteList, type FetchedList, type ListDiff } from '../window/remoteList.ts';
import type { InventoryEvent } from './nodes.ts';

/** A project of the account; without a record if the service couldn't return its details. */
interface ProjectEntry {
  readonly id: string;
  readonly record: Project | undefined;
}

interface ProjectListOptions {
  readonly fetchPages: (onPage: (page: ProjectPage) => void) => Promise<void>;
  /** Called with projects that were deleted. Returns those whose computes were requested before. */
  readonly forget: (removed: readonly string[]) => readonly string[];
  readonly onChange: (changes: readonly InventoryEvent[]) => void;
}

type Entries = ReadonlyMap<string, ProjectEntry>;

/** Loads and keeps the list of projects. */
export class ProjectList extends RemoteList<string, ProjectEntry> {
  readonly #options: ProjectListOptions;
  #firstPage = Promise.withResolvers<void>();

  constructor(options: ProjectListOptions) {
    super();
    this.#options = options;
  }

  /** The projects by id, in the service's order. */
  get entries(): Entries {
    return this.items;
  }

  /** Whether the service has returned no project at all, not even one that couldn't be parsed. */
  get isEmpty(): boolean {
    return this.items.size + this.unreadable.length === 0;
  }

  /** Loads the list unless it is loaded. Resolves as soon as the first page is in `entries`. @throws {ApiError} */
  async loadFirstPage(): Promise<void> {
    if (this.isLoaded) return;
    const all = this.refresh();
    await Promise.race([this.#firstPage.promise, all]);
  }

  protected override async fetch(): Promise<FetchedList<string, ProjectEntry>> {
    this.#firstPage = Promise.withResolvers();
    const items = new Map<string, ProjectEntry>();
    const unreadable: UnreadableRecord[] = [];
    await this.#options.fetchPages((page) => {
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
    const removed = this.isLoaded && isChanged ? [...before.keys()].filter((id) => !this.isListed(id)) : [];
    const ids = [...changed, ...this.#options.forget(removed)];
    const projects = ids.map((projectId) => ({ kind: 'project', projectId }) as const);
    if (isChanged) this.#options.onChange([{ kind: 'projects' }, ...projects]);
    else if (projects.length > 0) this.#options.onChange(projects);
  }
}

function isSameOrder(before: Entries, after: Entries): boolean {
  if (before === after) return true;
  if (before.size !== after.size) return false;
  const ids = after.keys();
  for (const id of before.keys()) if (ids.next().value !== id) return false;
  return true;
}
