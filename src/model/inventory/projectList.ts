/** The projects of the account, page by page as they arrive; a refresh replaces them only when it has them all. */
import type { ProjectPage } from '../../api/client.ts';
import { isSameFailure } from '../../api/errors.ts';
import type { Project } from '../../api/records/records.ts';
import type { UnreadableRecord } from '../../api/records/parseResponse.ts';
import { isEqual } from '../../base/equal.ts';

/** A project the service knows; without a record when it had no details just now. */
export interface ProjectEntry {
  readonly id: string;
  readonly record: Project | undefined;
}

/** `ids` are projects whose own record changed; `isStructural` when projects came, went or changed places. */
export interface ProjectListChange {
  readonly ids: readonly string[];
  readonly isStructural: boolean;
}

type Entries = ReadonlyMap<string, ProjectEntry>;

export class ProjectList {
  readonly #pages: () => AsyncIterable<ProjectPage>;
  readonly #tell: (change: ProjectListChange) => void;
  #entries = new Map<string, ProjectEntry>();
  #unreadable: readonly UnreadableRecord[] = [];
  #failure: unknown;
  #isComplete = false;
  #underway: { readonly first: Promise<void>; readonly all: Promise<void> } | undefined;

  constructor(pages: () => AsyncIterable<ProjectPage>, tell: (change: ProjectListChange) => void) {
    this.#pages = pages;
    this.#tell = tell;
  }

  /** Begins with what another list knew last, until it is refreshed. That list must be complete, and is given up. */
  restoreFrom(last: ProjectList): void {
    this.#entries = last.#entries;
    this.#unreadable = last.#unreadable;
    this.#failure = last.#failure;
    this.#isComplete = last.#isComplete;
  }

  /** By id, in the service's order. */
  get entries(): Entries {
    return this.#entries;
  }

  get unreadable(): readonly UnreadableRecord[] {
    return this.#unreadable;
  }

  /** Why the last load or refresh failed, if it did. */
  get failure(): unknown {
    return this.#failure;
  }

  /** Whether all pages were ever there. */
  get isLoaded(): boolean {
    return this.#isComplete;
  }

  /** Loads once; resolves with the first page. @throws what the call threw */
  async firstPage(): Promise<void> {
    if (!this.#isComplete) await this.#load().first;
  }

  /** Loads once; resolves with the last page. @throws what the call threw */
  async load(): Promise<void> {
    if (!this.#isComplete) await this.#load().all;
  }

  /** Asks for all pages again; those who ask at the same time share it. @throws what the call threw */
  async refresh(): Promise<void> {
    await this.#load().all;
  }

  #load() {
    if (this.#underway !== undefined) return this.#underway;
    const first = Promise.withResolvers<void>();
    const all = this.#readPages(first.resolve);
    all.then(first.resolve, first.reject);
    // Whoever waits for the pages hears of a failure; when nobody does, it is kept in `failure`.
    all.catch(() => undefined);
    first.promise.catch(() => undefined);
    this.#underway = { first: first.promise, all };
    return this.#underway;
  }

  async #readPages(onFirst: () => void): Promise<void> {
    const entries = new Map<string, ProjectEntry>();
    const unreadable: UnreadableRecord[] = [];
    try {
      for await (const page of this.#pages()) {
        const known = entries.size + unreadable.length;
        const changed = this.#add(page, entries);
        unreadable.push(...page.unreadable);
        if (!this.#isComplete && this.#entries !== entries) this.#replace(entries, unreadable, undefined);
        // From the second page on the map that is shown grows in place: copies of it would cost its square.
        else if (!this.#isComplete) this.#told(changed, entries.size + unreadable.length > known);
        onFirst();
      }
      const isFirst = !this.#isComplete;
      this.#isComplete = true;
      // Who asks from now on, told by the change among others, asks anew.
      this.#underway = undefined;
      this.#replace(entries, unreadable, undefined, isFirst);
    } catch (error) {
      this.#underway = undefined;
      this.#replace(this.#entries, this.#unreadable, error);
      throw error;
    }
  }

  /** @returns ids that pages before had with another record */
  #add(page: ProjectPage, entries: Map<string, ProjectEntry>): string[] {
    const changed: string[] = [];
    for (const record of page.items) {
      const before = entries.get(record.id);
      if (before !== undefined && isEqual(before.record, record)) continue;
      if (before !== undefined) changed.push(record.id);
      entries.set(record.id, { id: record.id, record });
    }
    for (const id of page.unavailable) if (!entries.has(id)) entries.set(id, this.#lastKnown(id));
    return changed;
  }

  #lastKnown(id: string): ProjectEntry {
    return this.#entries.get(id) ?? { id, record: undefined };
  }

  /** @param entries the list's own from now on */
  #replace(
    entries: Map<string, ProjectEntry>,
    unreadable: readonly UnreadableRecord[],
    failure: unknown,
    isFirst = false,
  ): void {
    const before = { entries: this.#entries, unreadable: this.#unreadable, failure: this.#failure };
    const changed = keepEqual(before.entries, entries);
    this.#entries = entries;
    this.#unreadable = unreadable;
    this.#failure = failure;
    const isStructural =
      isFirst ||
      !isSameOrder(before.entries, entries) ||
      !isEqual(before.unreadable, unreadable) ||
      !isSameFailure(before.failure, failure);
    this.#told(changed, isStructural);
  }

  #told(ids: readonly string[], isStructural: boolean): void {
    if (isStructural || ids.length > 0) this.#tell({ ids, isStructural });
  }
}

function isSameOrder(before: Entries, after: Entries): boolean {
  if (before === after) return true;
  if (before.size !== after.size) return false;
  const ids = after.keys();
  for (const id of before.keys()) if (ids.next().value !== id) return false;
  return true;
}

/** Puts the entries of before in the place of equal ones. @returns the ids of those that became others */
function keepEqual(before: Entries, after: Map<string, ProjectEntry>): string[] {
  const changed: string[] = [];
  if (before === after) return changed;
  for (const [id, entry] of after) {
    const old = before.get(id);
    if (old === undefined || old === entry) continue;
    if (isEqual(old, entry)) after.set(id, old);
    else changed.push(id);
  }
  return changed;
}
