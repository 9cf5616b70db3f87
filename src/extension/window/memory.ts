/** State that outlives the window: a Memento of VS Code, or a Map in tests. */
export interface Memory {
  get(entry: string): unknown;
  update(entry: string, value: unknown): PromiseLike<void>;
}

/** The values of {@link SharedMemory} by entry. */
export type SharedValues = Readonly<Record<string, unknown>>;

/** State that several processes change at once. A file, or a Map in tests. */
export interface SharedMemory {
  values(): SharedValues;
  /** @param next returns all values after the change; it may be called again. @throws {Error} if they can't be stored */
  change(next: (before: SharedValues) => SharedValues): void;
}

/** Unfinished work that the next window reports or resumes. Files, or a Map in tests. */
export interface RecoveryRecords<T> {
  all(): readonly T[];
  /** Stored on disk when it resolves. @throws {Error} if it can't be stored */
  set(id: string, record: T): Promise<void>;
  delete(id: string): void;
}
