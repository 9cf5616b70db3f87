import { toDisposable, type Disposable } from './disposable.ts';

export type Event<T> = (listener: (value: T) => void) => Disposable;

/** Calls listeners. A listener that throws doesn't affect the others. */
export class Emitter<T> implements Disposable {
  readonly #listeners = new Set<{ readonly call: (value: T) => void }>();

  readonly event: Event<T> = (listener) => {
    // The object is unique for each subscription, so that a function can be subscribed twice.
    const entry = { call: listener };
    this.#listeners.add(entry);
    return toDisposable(() => this.#listeners.delete(entry));
  };

  fire(value: T): void {
    // This is a copy, because a listener may add or remove listeners.
    for (const listener of Array.from(this.#listeners)) {
      try {
        listener.call(value);
      } catch (error) {
        // The extension host reports this bug of the listener, and the caller continues.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }

  dispose(): void {
    this.#listeners.clear();
  }
}
