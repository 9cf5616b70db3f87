/** A migration with what is true about it on the seeded tables. */
export interface MigrationCase {
  /** What it is, and why it is dangerous or harmless. */
  readonly title: string;
  readonly sql: readonly string[];
  /** What the report says without durations, if it is dangerous. */
  readonly says?: readonly string[];
}

export type Dangerous = Required<MigrationCase>;
