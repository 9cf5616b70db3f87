import type { Retry } from '../../api/transport/http.ts';
import { Emitter } from '../../base/event.ts';
import type { Disposable } from '../../base/disposable.ts';

export type OnRetry = (retry: Retry | undefined) => void;

/** Tracks calls that are being retried. Until they end, the view shows older data. */
export class RetryStatus implements Disposable {
  readonly #changed = new Emitter<void>();
  /** The running calls, with the reason if one is being retried. */
  readonly #calls = new Map<object, Retry | undefined>();

  readonly onDidChange = this.#changed.event;

  /** Why the oldest retried call is being retried; undefined if there is none. */
  get current(): Retry | undefined {
    return [...this.#calls.values()].find((retry) => retry !== undefined);
  }

  /**
   * Runs a call that reports each retry to `onRetry`, and undefined when a retry has succeeded and the call continues.
   * Reports after the end of the call are ignored.
   */
  async track<T>(run: (onRetry: OnRetry) => Promise<T>): Promise<T> {
    const call = {};
    this.#calls.set(call, undefined);
    try {
      return await run((retry) => this.#report(call, retry));
    } finally {
      const retry = this.#calls.get(call);
      this.#calls.delete(call);
      if (retry !== undefined) this.#changed.fire();
    }
  }

  dispose(): void {
    this.#calls.clear();
    this.#changed.dispose();
  }

  #report(call: object, retry: Retry | undefined): void {
    if (!this.#calls.has(call)) return;
    const before = this.#calls.get(call);
    this.#calls.set(call, retry);
    if ((before === undefined) !== (retry === undefined)) this.#changed.fire();
  }
}
