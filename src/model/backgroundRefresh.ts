/**
 * Keeps what is on screen fresh: asks for the computes of the shown projects every so often, and for the projects
 * themselves, which change seldom, every few times. Only while somebody looks.
 */
import { retryAfterOf } from '../api/errors.ts';
import { systemClock, type Clock } from '../base/clock.ts';
import type { Disposable } from '../base/disposable.ts';
import { Poller } from '../base/poller.ts';
import type { Inventory } from './inventory.ts';

export interface BackgroundRefreshOptions {
  readonly inventory: Inventory;
  /** Projects whose computes are on screen. */
  readonly shown: () => Iterable<string>;
  /** Milliseconds; 0 is never. */
  readonly interval: () => number;
  readonly onError: (error: unknown) => void;
  readonly clock?: Clock;
  readonly random?: () => number;
}

/** The list of projects is asked for at every fifth refresh. */
const PROJECTS_EVERY = 5;
const LONGEST_WAIT = 10 * 60_000;

export class BackgroundRefresh implements Disposable {
  readonly #options: BackgroundRefreshOptions;
  readonly #clock: Clock;
  #poller: Poller | undefined;
  #last: number;
  #times = 0;

  constructor(options: BackgroundRefreshOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#last = this.#clock.now();
  }

  /** Begins or ends: `wanted` while the view is visible and the window focused. What was missed is made up for at once. */
  setWanted(wanted: boolean): void {
    const interval = this.#options.interval();
    if (!wanted || interval <= 0) {
      this.#poller?.dispose();
      this.#poller = undefined;
      return;
    }
    const { onError, random = Math.random } = this.#options;
    this.#poller ??= new Poller(
      {
        poll: () => this.#refresh(),
        interval: () => this.#options.interval(),
        longestWait: LONGEST_WAIT,
        retryAfter: retryAfterOf,
        onError,
        clock: this.#clock,
        random,
      },
      Math.max(0, this.#last + interval - this.#clock.now()),
    );
  }

  dispose(): void {
    this.#poller?.dispose();
  }

  async #refresh(): Promise<void> {
    const { inventory, shown } = this.#options;
    this.#last = this.#clock.now();
    this.#times += 1;
    const isProjectsTurn = this.#times % PROJECTS_EVERY === 0 || inventory.projects?.failure !== undefined;
    await Promise.all([
      inventory.refreshComputesOf(shown()),
      isProjectsTurn ? inventory.refreshProjects() : undefined,
    ]);
  }
}
