import type { PendingRetry } from '../../api/transport/http.ts';
import { systemClock, type Clock } from '../../base/clock.ts';
import { Emitter } from '../../base/event.ts';
import type { Disposable } from '../../base/disposable.ts';

/** A function that is called with each retry of a call, and with undefined when the call has got a reply and continues. */
export type OnRetry = (retry: PendingRetry | undefined) => void;

/** Why a call waits: `slow` if there was no reply for {@link SLOW_AFTER}, and otherwise why it is retried. */
type Wait = 'slow' | Pick<PendingRetry, 'status'>;

/** The milliseconds after which a call without a reply is slow. It may still succeed, but the user should know why nothing happens. */
const SLOW_AFTER = 10_000;

/** Tracks calls that are being retried or get no reply. Until they end, the view shows older data. */
export class RetryStatus implements Disposable {
  readonly #changed = new Emitter<void>();
  /** The running calls, with why each one waits if it does. */
  readonly #calls = new Map<object, Wait | undefined>();
  readonly #clock: Clock;

  readonly onDidChange = this.#changed.event;

  constructor(clock = systemClock) {
    this.#clock = clock;
  }

  /** Why the oldest waiting call waits; undefined if no call waits. */
  get current(): Wait | undefined {
    return [...this.#calls.values()].find((wait) => wait !== undefined);
  }

  /** Runs a call that reports its retries. Reports after the end of the call are ignored. */
  async track<T>(run: (onRetry: OnRetry) => Promise<T>): Promise<T> {
    const call = {};
    this.#calls.set(call, undefined);
    const startTimer = () => this.#clock.after(SLOW_AFTER, () => this.#report(call, 'slow'));
    let timer = startTimer();
    try {
      return await run((retry) => {
        timer.dispose();
        if (retry === undefined && this.#calls.has(call)) timer = startTimer();
        this.#report(call, retry);
      });
    } finally {
      timer.dispose();
      const wait = this.#calls.get(call);
      this.#calls.delete(call);
      if (wait !== undefined) this.#changed.fire();
    }
  }

  dispose(): void {
    this.#calls.clear();
    this.#changed.dispose();
  }

  #report(call: object, wait: Wait | undefined): void {
    if (!this.#calls.has(call)) return;
    const before = this.#calls.get(call);
    this.#calls.set(call, wait);
    if ((before === undefined) !== (wait === undefined)) this.#changed.fire();
  }
}
