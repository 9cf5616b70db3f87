/** Something that its creator disposes. It is compatible with VS Code's Disposable. */
export interface Disposable {
  dispose(): void;
}

/** Returns an object that runs `end` at its first `dispose` only. */
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

/** Disposes its members in reverse order. After that, an added member is disposed at once. */
export class DisposableStore implements Disposable {
  readonly #members: Disposable[] = [];
  #disposed = false;

  add<T extends Disposable>(disposable: T): T {
    if (this.#disposed) disposable.dispose();
    else this.#members.push(disposable);
    return disposable;
  }

  dispose(): void {
    this.#disposed = true;
    for (const disposable of this.#members.splice(0).reverse()) disposable.dispose();
  }
}
