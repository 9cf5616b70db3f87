import { toDisposable, type Disposable } from '../../src/base/disposable.ts';
import type { Clock } from '../../src/base/clock.ts';

/** Turns of the event loop. */
const QUIET_TURNS = 10;

interface Timer {
  readonly at: number;
  readonly run: () => void;
}

/** A clock that stands still until it is advanced, and goes on only when what it set going has come to rest. */
export class ManualClock implements Clock {
  readonly #isBusy: () => boolean;
  readonly #timers = new Set<Timer>();
  #now = Date.now();

  /** @param isBusy whether requests are under way */
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

  /** @returns how many timers ran */
  async advance(milliseconds: number): Promise<number> {
    const until = this.#now + milliseconds;
    let ran = 0;
    for (;;) {
      const [due] = [...this.#timers].filter(({ at }) => at <= until).toSorted((a, b) => a.at - b.at);
      if (due === undefined) break;
      this.#timers.delete(due);
      this.#now = Math.max(this.#now, due.at);
      due.run();
      ran += 1;
      await this.#rest();
    }
    this.#now = until;
    return ran;
  }

  /** An answer may lead to the next request, so a moment without any is not enough. */
  async #rest(): Promise<void> {
    for (let quiet = 0; quiet < QUIET_TURNS; quiet += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      if (this.#isBusy()) quiet = 0;
    }
  }
}
