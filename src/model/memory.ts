/** What outlives the window: a memento of VS Code, or a map in a test. */
export interface Memory {
  get(entry: string): unknown;
  update(entry: string, value: unknown): PromiseLike<void>;
}
