import { toDisposable, type Disposable } from '../../src/base/disposable.ts';
import type { Clock } from '../../src/base/clock.ts';

/** Turns of the event loop. */
const QUIET_TURNS = 10;

interface Timer {
  readonly at: number;
  readonly run: () => void;
}

/** A clock that only `advance` moves. After each timer, it waits until the requests that the timer started have ended. */
export class ManualClock implements Clock {
  readonly #isBusy: () => boolean;
  readonly #timers = new Set<Timer>();
  #now = Date.now();

  /** @param isBusy whether requests are pending */
  constructor(isBusy: () => boolean) {
    this.#isBusy = isBusy;
  }

  now(): number {
    return this.#now;
  }

  after(milliseconds: number, run: () => void): Disposable {
    const timer = { at: this.#now + milliseconds, run };
    this.#timers.add(timer);
    return toDisposable(() => this.#timers.delete(timer));
  }

  /** Runs all timers that are due in this time. Returns how many ran. */
  async advance(milliseconds: number): Promise<number> {
    const end = this.#now + milliseconds;
    let ran = 0;
    for (;;) {
      const [due] = [...this.#timers].filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at);
      if (due === undefined) break;
      this.#timers.delete(due);
      this.#now = Math.max(this.#now, due.at);
      due.run();
      ran += 1;
      await this.#waitUntilIdle();
    }
    this.#now = end;
    return ran;
  }

  /** Waits for several turns without requests, because a reply may start the next request. */
  async #waitUntilIdle(): Promise<void> {
    for (let quiet = 0; quiet < QUIET_TURNS; quiet += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      if (this.#isBusy()) quiet = 0;
    }
  }
}
