import { toDisposable, type Disposable } from './disposable.ts';

export type Event<T> = (listener: (value: T) => void) => Disposable;

/** An event and the private right to fire it. A listener that throws does not keep the others from hearing. */
export class Emitter<T> implements Disposable {
  readonly #listeners = new Set<{ readonly hear: (value: T) => void }>();

  readonly event: Event<T> = (hear) => {
    const listener = { hear };
    this.#listeners.add(listener);
    return toDisposable(() => this.#listeners.delete(listener));
  };

  fire(value: T): void {
    // A copy: a listener may add or remove listeners.
    for (const listener of Array.from(this.#listeners)) {
      try {
        listener.hear(value);
      } catch (error) {
        // A defect in the listener: reported by the host as an uncaught error, away from whoever fired.
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
