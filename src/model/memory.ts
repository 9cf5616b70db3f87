/** State that outlives the window: a Memento of VS Code, or a Map in tests. */
export interface Memory {
  get(entry: string): unknown;
  update(entry: string, value: unknown): PromiseLike<void>;
}

/** Unfinished work that the next window reports or resumes. Files, or a Map in tests. */
export interface RecoveryRecords<T> {
  all(): readonly T[];
  /** Stored on disk when it resolves. @throws {Error} if it can't be stored */
  set(id: string, record: T): Promise<void>;
  delete(id: string): void;
}
