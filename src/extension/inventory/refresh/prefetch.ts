/**
 * Loads computes for the editor, which may be used before the sidebar is opened. In a large account, only the computes of the first
 * projects are loaded. Picking another project loads its computes.
 */
import { isCancelled, isRejected } from '../../../api/transport/errors.ts';
import { systemClock, type Clock } from '../../../base/clock.ts';
import type { Inventory } from '../inventory.ts';
import type { ProjectList } from '../projectList.ts';

/** The projects whose computes are loaded: enough for most users, without too many requests. */
const PREFETCHED_PROJECTS = 50;

/** Milliseconds until lists that failed to load are requested again. */
const RETRY_DELAY = 60_000;

/** Loads computes before the user asks for them. */
export class Prefetch {
  readonly #inventory: Inventory;
  readonly #onError: (error: unknown) => void;
  readonly #clock: Clock;
  #pending: Promise<void> | undefined;
  /** The list of projects of the account whose lists couldn't be loaded, and when that was. */
  #failure: { readonly projects: ProjectList; readonly at: number } | undefined;

  constructor(inventory: Inventory, onError: (error: unknown) => void, clock: Clock = systemClock) {
    this.#inventory = inventory;
    this.#onError = onError;
    this.#clock = clock;
  }

  /** Loads what isn't loaded. Never rejects: the inventory keeps the failures. */
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
    const now = this.#clock.now();
    if (projects === undefined) return;
    if (this.#failure?.projects === projects && now - this.#failure.at <= RETRY_DELAY) return;
    try {
      await projects.loadFirstPage();
      await this.#inventory.loadComputesOf([...projects.entries.keys()].slice(0, PREFETCHED_PROJECTS));
    } catch (error) {
      this.#failure = { projects, at: now };
      // Nothing is reported if the user switched accounts or the project was deleted.
      if (!isCancelled(error) && !isRejected(error, 404)) this.#onError(error);
    }
  }
}
