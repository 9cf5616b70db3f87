import type { Wait } from '../../api/transport/http.ts';
import { Emitter } from '../../base/event.ts';
import type { Disposable } from '../../base/disposable.ts';

/** Calls that are being tried again: while there is one, what is on screen is older than it could be. */
export class RetryStatus implements Disposable {
  readonly #changed = new Emitter<void>();
  readonly #waiting = new Map<object, Wait>();

  readonly onDidChange = this.#changed.event;

  /** Why the call that waits longest is tried again, if one is. */
  get current(): Wait | undefined {
    return this.#waiting.values().next().value;
  }

  /** Runs a call that says through `onWait` when it is tried again. */
  async during<T>(call: (onWait: (wait: Wait) => void) => Promise<T>): Promise<T> {
    const watched = {};
    try {
      return await call((wait) => this.#begin(watched, wait));
    } finally {
      if (this.#waiting.delete(watched)) this.#changed.fire();
    }
  }

  dispose(): void {
    this.#waiting.clear();
    this.#changed.dispose();
  }

  #begin(watched: object, wait: Wait): void {
    const isFirst = !this.#waiting.has(watched);
    this.#waiting.set(watched, wait);
    if (isFirst) this.#changed.fire();
  }
}
