/** What outlives the window: a memento of VS Code, or a map in a test. */
export interface Memory {
  get(entry: string): unknown;
  update(entry: string, value: unknown): PromiseLike<void>;
}

/** What the next window must know if this one ends in the middle of something: files, or a map in a test. */
export interface Notes<T> {
  all(): readonly T[];
  /** Stored on disk when it resolves. @throws {Error} if it can't be stored */
  set(id: string, note: T): Promise<void>;
  delete(id: string): void;
}
