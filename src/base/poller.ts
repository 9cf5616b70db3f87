/**
 * Repeats one asynchronous task with a pause between the end of a run and the start of the next, so that never more
 * than one is under way. It alone owns a timer in the extension; whoever polls holds one and stops it when there is
 * nothing left to watch.
 */
import { systemClock, type Clock } from './clock.ts';
import type { Disposable } from './disposable.ts';

export interface PollerOptions {
  readonly poll: () => Promise<void>;
  /** Milliseconds from the end of a good run to the next; asked anew each time. */
  readonly interval: () => number;
  /** Milliseconds; the pause doubles with every failure in a row, up to this. */
  readonly longestWait: number;
  /** Milliseconds the other side asked to wait, which wins over the pause of our own. */
  readonly retryAfter?: (error: unknown) => number | undefined;
  readonly onError?: (error: unknown) => void;
  readonly clock?: Clock;
  /** From 0 up to 1; spreads the tries of several windows after a common failure. */
  readonly random?: () => number;
}

export class Poller implements Disposable {
  readonly #options: PollerOptions;
  readonly #clock: Clock;
  #timer: Disposable | undefined;
  #running = false;
  #again = false;
  #stopped = false;
  #failures = 0;

  /** @param firstWait milliseconds to the first run */
  constructor(options: PollerOptions, firstWait: number) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#schedule(firstWait);
  }

  /** Runs at once, or right after the run that is under way. */
  now(): void {
    if (this.#running) this.#again = true;
    else this.#schedule(0);
  }

  /** The interval has changed: the pause begins anew. A run under way asks at its end; after a failure its pause stays. */
  reschedule(): void {
    if (!this.#running && this.#failures === 0) this.#schedule(this.#options.interval());
  }

  /** Final: a run under way may end, nothing follows it. */
  dispose(): void {
    this.#stopped = true;
    this.#timer?.dispose();
  }

  #schedule(wait: number): void {
    this.#timer?.dispose();
    if (!this.#stopped) this.#timer = this.#clock.after(wait, () => void this.#run());
  }

  async #run(): Promise<void> {
    this.#running = true;
    this.#again = false;
    let wait = 0;
    try {
      await this.#options.poll();
      this.#failures = 0;
      wait = this.#options.interval();
    } catch (error) {
      this.#failures += 1;
      wait = this.#options.retryAfter?.(error) ?? this.#backoff();
      if (!this.#stopped) this.#options.onError?.(error);
    } finally {
      this.#running = false;
      this.#schedule(this.#again ? 0 : wait);
    }
  }

  #backoff(): number {
    const { interval, longestWait, random = Math.random } = this.#options;
    const wait = Math.min(interval() * 2 ** this.#failures, longestWait);
    return wait * (0.5 + random() / 2);
  }
}
