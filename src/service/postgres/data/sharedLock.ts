import { limitConcurrency } from '../../../base/limitConcurrency.ts';

/** A lock for readers, which share it, and writers, which have it alone. Each waits for those that came before. */
export class SharedLock {
  #lastWriter: Promise<unknown> = Promise.resolve();
  readonly #readers = new Set<Promise<unknown>>();
  /** For those that share the lock: runs what they do one after the other. */
  readonly oneByOne = limitConcurrency(1);

  /** Runs `work` alone. */
  async exclusive<T>(work: () => Promise<T>): Promise<T> {
    const result = Promise.allSettled([this.#lastWriter, ...this.#readers]).then(work);
    this.#lastWriter = result;
    return result;
  }

  /** Runs `work` together with others that share the lock. */
  async shared<T>(work: () => Promise<T>): Promise<T> {
    const result = Promise.allSettled([this.#lastWriter]).then(work);
    this.#readers.add(result);
    return result.finally(() => this.#readers.delete(result));
  }
}
