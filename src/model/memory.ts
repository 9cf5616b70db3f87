/** What outlives the window: VS Code's workspace state, or a map in a test. */
export interface Memory {
  get(entry: string): unknown;
  update(entry: string, value: unknown): Promise<void>;
}
