/** A migration with what is true about it on the seeded tables. */
export interface MigrationCase {
  /** What it is, and why it is dangerous or harmless. */
  readonly title: string;
  readonly sql: readonly string[];
  /** What the report says without durations, if it is dangerous. */
  readonly says?: readonly string[];
  /** Which forms it names as safer, such as `public.orders: notValid`. */
  readonly safer?: readonly string[];
}

export type Dangerous = MigrationCase & Required<Pick<MigrationCase, 'says'>>;
