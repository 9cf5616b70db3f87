/** State that outlives the window: a Memento of VS Code, or a Map in tests. */
export interface Memory {
  get(entry: string): unknown;
  update(entry: string, value: unknown): PromiseLike<void>;
}

/** The values of {@link SharedMemory} by entry. */
export type SharedValues = Readonly<Record<string, unknown>>;

/** State that several processes change at once, in a file, or for tests in a Map. */
export interface SharedMemory {
  values(): SharedValues;
  /** @param next returns all values after the change; it may be called again. @throws {Error} if they can't be stored */
  change(next: (before: SharedValues) => SharedValues): void;
}

/** Records of unfinished work that the next window reports or resumes. They are files, or a Map in tests. */
export interface RecoveryRecords<T> {
  all(): readonly T[];
  /** Resolves when the record is stored on disk. @throws {Error} if it can't be stored */
  set(id: string, record: T): Promise<void>;
  delete(id: string): void;
}
