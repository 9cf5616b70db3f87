import type { Wait } from '../../api/transport/http.ts';
import { Emitter } from '../../base/event.ts';
import type { Disposable } from '../../base/disposable.ts';

/** Calls that are being retried: until they end, the view shows older data. */
export class RetryStatus implements Disposable {
  readonly #changed = new Emitter<void>();
  /** The running calls; those that are being retried say why. */
  readonly #calls = new Map<object, Wait | undefined>();

  readonly onDidChange = this.#changed.event;

  /** Why the oldest of the calls is being retried, if any is. */
  get current(): Wait | undefined {
    return [...this.#calls.values()].find((wait) => wait !== undefined);
  }

  /** Runs a call that reports each retry to `onWait`; after its end such a report is ignored. */
  async during<T>(run: (onWait: (wait: Wait) => void) => Promise<T>): Promise<T> {
    const call = {};
    this.#calls.set(call, undefined);
    try {
      return await run((wait) => this.#report(call, wait));
    } finally {
      const wait = this.#calls.get(call);
      this.#calls.delete(call);
      if (wait !== undefined) this.#changed.fire();
    }
  }

  dispose(): void {
    this.#calls.clear();
    this.#changed.dispose();
  }

  #report(call: object, wait: Wait): void {
    if (!this.#calls.has(call)) return;
    const isFirst = this.#calls.get(call) === undefined;
    this.#calls.set(call, wait);
    if (isFirst) this.#changed.fire();
  }
}
