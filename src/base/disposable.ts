/** Who creates, disposes. The shape is VS Code's own, so these go into its subscriptions as they are. */
export interface Disposable {
  dispose(): void;
}

/** Runs `end` at the first `dispose` and never again. */
export function toDisposable(end: () => void): Disposable {
  let ended = false;
  return {
    dispose() {
      if (ended) return;
      ended = true;
      end();
    },
  };
}

/** Ends what it was given in reverse order; what comes later than its own end is ended at once. */
export class DisposableStore implements Disposable {
  readonly #held: Disposable[] = [];
  #disposed = false;

  add<T extends Disposable>(disposable: T): T {
    if (this.#disposed) disposable.dispose();
    else this.#held.push(disposable);
    return disposable;
  }

  dispose(): void {
    this.#disposed = true;
    for (const disposable of this.#held.splice(0).reverse()) disposable.dispose();
  }
}
