/**
 * Loads computes for the editor, which may be used before the sidebar is opened. Each project's computes are requested once; in a
 * large account, only those of the first projects. Picking another project loads its computes.
 */
import { isCancelled, isRejected } from '../../api/errors.ts';
import { systemClock, type Clock } from '../../base/clock.ts';
import type { Inventory } from '../inventory/inventory.ts';
import type { ProjectList } from '../inventory/projectList.ts';

/** Enough for most users, without too many requests. */
export const PREFETCHED_PROJECTS = 50;

/** Milliseconds until a list of projects that failed to load is requested again. */
const RETRY_DELAY = 60_000;

export class Prefetch {
  readonly #inventory: Inventory;
  readonly #onError: (error: unknown) => void;
  readonly #clock: Clock;
  #pending: Promise<void> | undefined;
  #failedAt = -Infinity;

  constructor(inventory: Inventory, onError: (error: unknown) => void, clock: Clock = systemClock) {
    this.#inventory = inventory;
    this.#onError = onError;
    this.#clock = clock;
  }

  /** Loads what was never requested. Never rejects: the inventory keeps the failures. */
  async start(): Promise<void> {
    const { projects } = this.#inventory;
    if (projects === undefined || (this.#pending === undefined && !this.#hasWork(projects))) return;
    this.#pending ??= this.#load(projects).finally(() => (this.#pending = undefined));
    await this.#pending;
  }

  /** Whether the account has projects whose computes aren't loaded. */
  get isPartial(): boolean {
    const { projects } = this.#inventory;
    if (projects === undefined) return false;
    const isMissing = (id: string) => this.#inventory.computesOf(id)?.isLoaded !== true;
    return !projects.isLoaded || [...projects.entries.keys()].some(isMissing);
  }

  #hasWork(projects: ProjectList): boolean {
    if (projects.entries.size > 0) return this.#unrequested(projects).length > 0;
    return !projects.isLoaded && this.#clock.now() - this.#failedAt > RETRY_DELAY;
  }

  #unrequested(projects: ProjectList): readonly string[] {
    const ids = [...projects.entries.keys()].slice(0, PREFETCHED_PROJECTS);
    return ids.filter((id) => this.#inventory.computesOf(id) === undefined);
  }

  async #load(projects: ProjectList): Promise<void> {
    try {
      await projects.firstPage();
    } catch (error) {
      this.#failedAt = this.#clock.now();
      return this.#report(error);
    }
    await this.#inventory
      .loadComputesOf(this.#unrequested(projects))
      .catch((error: unknown) => this.#report(error));
  }

  #report(error: unknown): void {
    // The user switched accounts, or the project was deleted.
    if (!isCancelled(error) && !isRejected(error, 404)) this.#onError(error);
  }
}
