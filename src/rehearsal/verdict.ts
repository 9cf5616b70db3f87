/** Whether a migration is safe, and why it isn't. */
import type { RehearsedStatement } from '../api/records/rehearsal.ts';
import type { BlockedTable } from './blockedTables.ts';
import type { DataLoss } from './losses.ts';
import type { BrokenRelation } from './trials.ts';

/** How a rehearsal ends, which decides the exit code of the program. */
export type Verdict = 'safe' | 'dangerous' | 'failed';

/** The command ended with this code, and Postgres has refused the statement. */
interface Failed {
  readonly kind: 'failed';
  readonly exitCode: number;
  readonly statement: RehearsedStatement | undefined;
  /** Whether the command has gone on afterwards, so that it may have expected the error, and failed for another reason. */
  readonly hasGoneOn: boolean;
}

/** Why a migration isn't safe. */
export type VerdictReason =
  | Failed
  | { readonly kind: 'incomplete'; readonly problem: string }
  /** Nothing reached the copy: the command may have used another database. */
  | { readonly kind: 'unused' }
  /** Postgres has rolled back the transaction of this statement, the last before its connection ended. */
  | { readonly kind: 'uncommitted'; readonly statement: RehearsedStatement }
  | { readonly kind: 'loss'; readonly loss: DataLoss }
  | { readonly kind: 'broken'; readonly broken: BrokenRelation }
  | { readonly kind: 'blocked'; readonly blocked: BlockedTable }
  /** What the way back doesn't restore of the schema. */
  | { readonly kind: 'forgotten'; readonly lines: readonly string[] }
  | { readonly kind: 'wayBack'; readonly reason: VerdictReason };

/** Reasons for which a migration is called neither safe nor dangerous, because it wasn't seen to its end or has left no result. */
export const INCONCLUSIVE_REASONS: ReadonlySet<VerdictReason['kind']> = new Set([
  'failed',
  'incomplete',
  'unused',
  'uncommitted',
]);

/** Returns a reason for the last statement of each transaction that wasn't committed. */
export function uncommittedReasons(statements: readonly RehearsedStatement[]): VerdictReason[] {
  const last = new Map<number, RehearsedStatement>();
  for (const statement of statements) if (statement.isUncommitted) last.set(statement.transaction, statement);
  return [...last.values()].map((statement) => ({ kind: 'uncommitted', statement }));
}
