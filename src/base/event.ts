import { toDisposable, type Disposable } from './disposable.ts';

export type Event<T> = (listener: (value: T) => void) => Disposable;

/** Fires an event. A listener that throws does not affect the others. */
export class Emitter<T> implements Disposable {
  readonly #listeners = new Set<{ readonly call: (value: T) => void }>();

  readonly event: Event<T> = (listener) => {
    // An object for each subscription, so that a function can listen twice.
    const entry = { call: listener };
    this.#listeners.add(entry);
    return toDisposable(() => this.#listeners.delete(entry));
  };

  fire(value: T): void {
    // A copy: a listener may add or remove listeners.
    for (const listener of Array.from(this.#listeners)) {
      try {
        listener.call(value);
      } catch (error) {
        // A bug in the listener. The extension host reports it, and the code that fired continues.
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
