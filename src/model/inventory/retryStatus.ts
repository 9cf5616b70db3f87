import type { Retry } from '../../api/transport/http.ts';
import { Emitter } from '../../base/event.ts';
import type { Disposable } from '../../base/disposable.ts';

/** Calls that are being retried: until they end, the view shows older data. */
export class RetryStatus implements Disposable {
  readonly #changed = new Emitter<void>();
  /** The running calls; those that are being retried say why. */
  readonly #calls = new Map<object, Retry | undefined>();

  readonly onDidChange = this.#changed.event;

  /** Why the oldest of the calls is being retried, if any is. */
  get current(): Retry | undefined {
    return [...this.#calls.values()].find((retry) => retry !== undefined);
  }

  /** Runs a call that reports each retry to `onRetry`; after its end such a report is ignored. */
  async track<T>(run: (onRetry: (retry: Retry) => void) => Promise<T>): Promise<T> {
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

  #report(call: object, retry: Retry): void {
    if (!this.#calls.has(call)) return;
    const isFirst = this.#calls.get(call) === undefined;
    this.#calls.set(call, retry);
    if (isFirst) this.#changed.fire();
  }
}
