/**
 * Loads computes for whoever asks about hosts before the sidebar was opened: in the background, each project at most
 * once, and of a large account only the first projects. What is beyond is reached by picking a project, which loads it.
 */
import { isCancelled, isRefused } from '../../api/errors.ts';
import { systemClock, type Clock } from '../../base/clock.ts';
import type { Inventory } from './inventory.ts';

/** A person works with a few projects; as many requests as this no service minds. */
export const PREFETCHED_PROJECTS = 50;

/** Milliseconds until a list of projects that could not be loaded is tried again. */
const TRY_AGAIN_AFTER = 60_000;

export class Prefetch {
  readonly #inventory: Inventory;
  readonly #onError: (error: unknown) => void;
  readonly #clock: Clock;
  #underway: Promise<void> | undefined;
  #failedAt = -Infinity;

  constructor(inventory: Inventory, onError: (error: unknown) => void, clock: Clock = systemClock) {
    this.#inventory = inventory;
    this.#onError = onError;
    this.#clock = clock;
  }

  /** Starts to load what was never asked for. @returns the load under way, or undefined when there is nothing to wait for */
  start(): Promise<void> | undefined {
    if (this.#underway === undefined && this.#hasWork()) {
      this.#underway = this.#load().finally(() => {
        this.#underway = undefined;
      });
    }
    return this.#underway;
  }

  /** Whether the account has projects whose computes are not known. */
  get isPartial(): boolean {
    const projects = this.#inventory.projects;
    if (projects === undefined) return false;
    if (!projects.isLoaded) return true;
    for (const id of projects.entries.keys())
      if (this.#inventory.computesOf(id)?.isLoaded !== true) return true;
    return false;
  }

  #hasWork(): boolean {
    const projects = this.#inventory.projects;
    if (projects === undefined) return false;
    if (projects.entries.size > 0) return this.#unasked().length > 0;
    return !projects.isLoaded && this.#clock.now() - this.#failedAt > TRY_AGAIN_AFTER;
  }

  #unasked(): readonly string[] {
    const ids = this.#inventory.projects?.entries.keys() ?? [];
    const first: string[] = [];
    let seen = 0;
    for (const id of ids) {
      if (seen === PREFETCHED_PROJECTS) break;
      seen += 1;
      if (this.#inventory.computesOf(id) === undefined) first.push(id);
    }
    return first;
  }

  /** Never rejects: what fails is kept by the store, which shows it, and told once. */
  async #load(): Promise<void> {
    try {
      await this.#inventory.projects?.firstPage();
    } catch (error) {
      this.#failedAt = this.#clock.now();
      return this.#tell(error);
    }
    await this.#inventory.loadComputesOf(this.#unasked()).catch((error: unknown) => this.#tell(error));
  }

  #tell(error: unknown): void {
    // A project deleted meanwhile, or another account chosen: nothing to report.
    if (!isCancelled(error) && !isRefused(error, 404)) this.#onError(error);
  }
}
