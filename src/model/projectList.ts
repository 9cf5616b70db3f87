/** The projects of the account, page by page as they arrive; a refresh replaces them only when it has them all. */
import type { ProjectPage } from '../api/client.ts';
import type { Project } from '../api/records.ts';
import type { UnreadableRecord } from '../api/reading.ts';
import { isEqual } from '../base/equal.ts';

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
  #entries: Entries = new Map();
  #unreadable: readonly UnreadableRecord[] = [];
  #failure: unknown;
  #isComplete = false;
  #underway: { readonly first: Promise<void>; readonly all: Promise<void> } | undefined;

  constructor(pages: () => AsyncIterable<ProjectPage>, tell: (change: ProjectListChange) => void) {
    this.#pages = pages;
    this.#tell = tell;
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
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** Loads once; resolves with the first page. @throws what the call threw */
  async firstPage(): Promise<void> {
    if (!this.#isComplete) await this.#load().first;
  }

  /** Loads once; resolves with the last page. @throws what the call threw */
  async allPages(): Promise<void> {
    if (!this.#isComplete) await this.#load().all;
  }

  /** Asks for all pages again; those who ask at the same time share it. @throws what the call threw */
  async refresh(): Promise<void> {
    await this.#load().all;
  }

  #load() {
    if (this.#underway !== undefined) return this.#underway;
    const first = Promise.withResolvers<void>();
    const all = this.#readPages(first.resolve).finally(() => {
      this.#underway = undefined;
    });
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
        for (const record of page.items) entries.set(record.id, { id: record.id, record });
        for (const id of page.unavailable) if (!entries.has(id)) entries.set(id, this.#lastKnown(id));
        unreadable.push(...page.unreadable);
        if (!this.#isComplete) this.#replace(new Map(entries), [...unreadable], undefined);
        onFirst();
      }
      const isFirst = !this.#isComplete;
      this.#isComplete = true;
      this.#replace(entries, unreadable, undefined, isFirst);
    } catch (error) {
      this.#replace(this.#entries, this.#unreadable, error);
      throw error;
    }
  }

  #lastKnown(id: string): ProjectEntry {
    return this.#entries.get(id) ?? { id, record: undefined };
  }

  #replace(
    entries: Entries,
    unreadable: readonly UnreadableRecord[],
    failure: unknown,
    isFirst = false,
  ): void {
    const before = { entries: this.#entries, unreadable: this.#unreadable, failure: this.#failure };
    const { kept, changed } = keepEqual(before.entries, entries);
    this.#entries = kept;
    this.#unreadable = unreadable;
    this.#failure = failure;
    const isStructural =
      isFirst ||
      !isEqual([...before.entries.keys()], [...kept.keys()]) ||
      !isEqual(before.unreadable, unreadable) ||
      (before.failure === undefined) !== (failure === undefined);
    if (isStructural || changed.length > 0) this.#tell({ ids: changed, isStructural });
  }
}

function keepEqual(before: Entries, after: Entries) {
  const changed: string[] = [];
  const kept = new Map<string, ProjectEntry>();
  for (const [id, entry] of after) {
    const old = before.get(id);
    const isSame = old !== undefined && isEqual(old, entry);
    kept.set(id, isSame ? old : entry);
    if (old !== undefined && !isSame) changed.push(id);
  }
  return { kept, changed };
}
