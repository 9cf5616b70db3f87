/**
 * Repeats an asynchronous task with a pause between the end of a run and the start of the next, so that only one runs at a
 * time. The owner disposes it when there is nothing left to poll.
 */
import type { Clock } from './clock.ts';
import type { Disposable } from './disposable.ts';

export interface PollerOptions {
  readonly poll: () => Promise<void>;
  /** Milliseconds from the end of a successful run to the next. Called each time. */
  readonly interval: () => number;
  /** The longest pause in milliseconds. The pause doubles with each consecutive failure. */
  readonly maxDelay: number;
  /** Milliseconds that the service asked to wait. Replaces the pause after a failure. */
  readonly retryAfter?: (error: unknown) => number | undefined;
  readonly onError?: (error: unknown) => void;
  readonly clock: Clock;
  /** Returns a number from 0 to 1, which spreads the retries of several windows after a common failure. */
  readonly random: () => number;
}

/** Runs a task again and again until it is disposed. */
export class Poller implements Disposable {
  readonly #options: PollerOptions;
  readonly #clock: Clock;
  #timer: Disposable | undefined;
  #running = false;
  #runAgain = false;
  #disposed = false;
  #failures = 0;

  /** @param firstDelay milliseconds to the first run */
  constructor(options: PollerOptions, firstDelay: number) {
    this.#options = options;
    this.#clock = options.clock;
    this.#schedule(firstDelay);
  }

  /** Runs at once, or right after the current run. */
  runNow(): void {
    if (this.#running) this.#runAgain = true;
    else this.#schedule(0);
  }

  /** Restarts the pause because the interval has changed. A pause after a failure stays as it is. */
  reschedule(): void {
    if (!this.#running && this.#failures === 0) this.#schedule(this.#options.interval());
  }

  /** Stops polling. The current run continues to its end. */
  dispose(): void {
    this.#disposed = true;
    this.#timer?.dispose();
  }

  #schedule(delay: number): void {
    this.#timer?.dispose();
    if (!this.#disposed) this.#timer = this.#clock.after(delay, () => void this.#run());
  }

  async #run(): Promise<void> {
    this.#running = true;
    this.#runAgain = false;
    const delay = await this.#poll();
    this.#running = false;
    this.#schedule(this.#runAgain ? 0 : delay);
  }

  /** Returns milliseconds until the next run. */
  async #poll(): Promise<number> {
    try {
      await this.#options.poll();
      this.#failures = 0;
      return this.#options.interval();
    } catch (error) {
      this.#failures += 1;
      if (!this.#disposed) this.#options.onError?.(error);
      return this.#options.retryAfter?.(error) ?? this.#backoff();
    }
  }

  #backoff(): number {
    const { interval, maxDelay, random } = this.#options;
    const delay = Math.min(interval() * 2 ** this.#failures, maxDelay);
    return delay * (0.5 + random() / 2);
  }
}
