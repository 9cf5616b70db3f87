/**
 * Loads computes for the editor, which may be used before the sidebar is opened. Each project's computes are requested once; in a
 * large account, only those of the first projects. Picking another project loads its computes.
 */
import { isCancelled, isRejected } from '../../api/transport/errors.ts';
import { systemClock, type Clock } from '../../base/clock.ts';
import type { Inventory } from '../inventory/inventory.ts';

/** Enough for most users, without too many requests. */
const PREFETCHED_PROJECTS = 50;

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
    this.#pending ??= this.#load().finally(() => (this.#pending = undefined));
    await this.#pending;
  }

  /** Whether the account has projects whose computes aren't loaded. */
  get isPartial(): boolean {
    const { projects } = this.#inventory;
    if (projects === undefined) return false;
    const isUnloaded = (id: string) => this.#inventory.computesOf(id)?.isLoaded !== true;
    return !projects.isLoaded || [...projects.entries.keys()].some(isUnloaded);
  }

  async #load(): Promise<void> {
    const { projects } = this.#inventory;
    if (projects === undefined) return;
    try {
      if (projects.entries.size === 0) {
        if (this.#clock.now() - this.#failedAt <= RETRY_DELAY) return;
        await projects.firstPage();
      }
      const ids = [...projects.entries.keys()].slice(0, PREFETCHED_PROJECTS);
      await this.#inventory.loadComputesOf(ids.filter((id) => this.#inventory.computesOf(id) === undefined));
    } catch (error) {
      if (projects.entries.size === 0) this.#failedAt = this.#clock.now();
      // Not reported if the user switched accounts, or the project was deleted.
      if (!isCancelled(error) && !isRejected(error, 404)) this.#onError(error);
    }
  }
}
