/** Reports what a rehearsal has found: whether the migration is safe, and what each statement did to others and to the data. */
import {
  relationKey,
  type HeldLock,
  type Rehearsal,
  type RehearsedStatement,
} from '../api/records/rehearsal.ts';
import type { SkippedStatement } from '../migrations/publicService.ts';
import { allBlocks, blockedTables, type BlockedTable } from './blockedTables.ts';
import { actualLosses, emptyUnloggedTables, type DataLoss } from './losses.ts';
import { fileVerdicts, lastStatementError, type FileVerdict } from './reasonStatement.ts';
import { saferStatements, type SaferStatement } from './saferForms.ts';
import { EMPTY_TRIAL_REPORT, type TrialReport } from './trials.ts';
import { INCONCLUSIVE_REASONS, uncommittedReasons, type VerdictReason, type Verdict } from './verdict.ts';
import type { LinesOfSchemaDiff } from './wayBack.ts';

/** The milliseconds that others may wait for a table, by default. */
export const DEFAULT_LONGEST_LOCK = 1000;

/** The limits that decide whether a migration is safe. */
export interface VerdictRules {
  /** Milliseconds that others may wait for a table. */
  readonly longestLock: number;
  /** Seconds for which the history of the branch reaches back. */
  readonly historySeconds?: number | undefined;
}

/** The verdict about a migration, and all that was seen of it. */
export interface RehearsalReport {
  readonly verdict: Verdict;
  /** Why the migration isn't safe; empty if it is. */
  readonly reasons: readonly VerdictReason[];
  readonly blocked: readonly BlockedTable[];
  /** Every time at which others would have waited. */
  readonly timeline: readonly BlockedTable[];
  readonly losses: readonly DataLoss[];
  readonly rewritten: readonly { readonly table: string; readonly bytes: number }[];
  readonly statements: readonly RehearsedStatement[];
  readonly locks: readonly HeldLock[];
  /** Safer forms of the statements that were seen to be dangerous. */
  readonly safer: readonly SaferStatement[];
  /** The longest time between two samples of locks, in milliseconds; missing if every statement was seen. */
  readonly sampled?: number;
  readonly tried: TrialReport;
  /** The unlogged tables of which the copy has no rows, which may be because it is a copy. */
  readonly emptied: readonly string[];
  /** The roles of the copy that had the passwords of the branch that was copied. */
  readonly sharedRoles: readonly string[];
  /** Whether the comparison was with data of after the command, to which others may have written in the meantime. */
  readonly isComparedWithLater: boolean;
  /** The statements of files that were left out, because Postgres leaves them to superusers. */
  readonly skipped: readonly SkippedStatement[];
  /** Empty if the files aren't known. */
  readonly files: readonly FileVerdict[];
  /** Missing if no down step is known. */
  readonly wayBack?: Pick<RehearsalReport, 'blocked' | 'statements' | 'safer'> & {
    /** Lines of the schema that weren't there before. */
    readonly left: readonly string[];
    /** Rows that weren't there before. */
    readonly added: readonly { readonly table: string; readonly count: number }[];
  };
  /** How long Undo reaches back, in seconds, if something is lost that nothing else brings back. */
  readonly undoSeconds?: number;
}

/** What was seen of the step that takes the migration back. */
export interface WayBackRun {
  readonly rehearsal: Rehearsal;
  /** What is lost, compared with the data as they were before the migration. */
  readonly losses: readonly DataLoss[];
  readonly schema: LinesOfSchemaDiff;
  readonly exitCode: number;
}

/** What was seen of a migration, from which the report is made. */
export interface RehearsedRun {
  readonly rehearsal: Rehearsal;
  readonly losses: readonly DataLoss[];
  readonly tried: TrialReport;
  /** The exit code of the command. */
  readonly exitCode: number;
  /** The files of the migration, in the order in which they run. */
  readonly files?: readonly string[];
  readonly skipped?: readonly SkippedStatement[];
  readonly sharedRoles?: readonly string[];
  readonly isComparedWithLater?: boolean;
  readonly wayBack?: WayBackRun | undefined;
}

/** Decides whether a migration is safe, and says what it has done. */
export function createReport(
  run: RehearsedRun,
  { longestLock, historySeconds }: VerdictRules,
): RehearsalReport {
  const { rehearsal, losses, tried, exitCode, wayBack, files = [], skipped = [], sharedRoles = [] } = run;
  const { statements } = rehearsal;
  const lost = actualLosses(losses);
  // Samples can miss a short session, so without any statement in them, the copy may still have been used.
  const isUnused = statements.length === 0 && exitCode === 0 && rehearsal.sampled === undefined;
  const found = [...(isUnused ? [{ kind: 'unused' } as const] : []), ...findReasons(run, longestLock)];
  const back = wayBack && findReasons({ ...wayBack, tried: EMPTY_TRIAL_REPORT }, longestLock);
  const forgotten = wayBack?.schema.forgotten ?? [];
  const reasons: VerdictReason[] = [
    ...found,
    ...(back ?? []).map((reason) => ({ kind: 'wayBack', reason }) as const),
    ...(forgotten.length === 0
      ? []
      : [{ kind: 'wayBack', reason: { kind: 'forgotten', lines: forgotten } } as const]),
  ];
  const isInconclusive = found.some(({ kind }) => INCONCLUSIVE_REASONS.has(kind));
  return {
    verdict: isInconclusive ? 'failed' : reasons.length > 0 ? 'dangerous' : 'safe',
    reasons,
    blocked: blockedTables(rehearsal),
    timeline: allBlocks(rehearsal),
    losses: lost,
    rewritten: rewrittenTables(rehearsal),
    statements,
    locks: rehearsal.locks,
    skipped,
    files: fileVerdicts(rehearsal, found, files),
    safer: saferStatements(found, rehearsal),
    ...(rehearsal.sampled !== undefined && { sampled: rehearsal.sampled }),
    tried,
    emptied: emptyUnloggedTables(rehearsal),
    sharedRoles,
    isComparedWithLater: run.isComparedWithLater === true,
    ...(wayBack && {
      wayBack: {
        blocked: blockedTables(wayBack.rehearsal),
        statements: wayBack.rehearsal.statements,
        safer: saferStatements(back ?? [], wayBack.rehearsal),
        left: wayBack.schema.left,
        added: wayBack.losses.flatMap(({ name, count }) => (count < 0 ? { table: name, count: -count } : [])),
      },
    }),
    ...(wayBack === undefined &&
      lost.length > 0 &&
      exitCode === 0 &&
      historySeconds !== undefined && { undoSeconds: historySeconds }),
  };
}

/** Finds why a migration, or its way back, isn't safe. */
function findReasons(
  { rehearsal, losses, tried, exitCode }: RehearsedRun,
  longestLock: number,
): VerdictReason[] {
  const { statements, sampled = 0 } = rehearsal;
  const tooSeldom =
    sampled > longestLock ? `Locks were read only every ${Math.round(sampled)} ms.` : undefined;
  const { problem = tooSeldom } = rehearsal;
  const long = blockedTables(rehearsal).filter(
    // Only other migrations wait to change the definition, and not the programs that use the table.
    ({ blocks, milliseconds }) => blocks !== 'changes of its definition' && milliseconds >= longestLock,
  );
  const last = lastStatementError(statements);
  // Without ON_ERROR_STOP, psql continues after an error and ends with 0.
  const isFailed = exitCode !== 0 || last.statement?.place !== undefined;
  return [
    ...(isFailed ? [{ kind: 'failed', exitCode, ...last } as const] : []),
    ...(problem === undefined ? [] : [{ kind: 'incomplete', problem } as const]),
    // A command that fails often leaves its transaction open.
    ...(exitCode === 0 ? uncommittedReasons(statements) : []),
    ...actualLosses(losses).map((loss) => ({ kind: 'loss', loss }) as const),
    ...tried.broken.map((broken) => ({ kind: 'broken', broken }) as const),
    ...long.map((each) => ({ kind: 'blocked', blocked: each }) as const),
  ];
}

/** Finds the tables that Postgres has rewritten: they have another file. A truncated one is empty, and not in the list. */
function rewrittenTables({ before, after }: Rehearsal): RehearsalReport['rewritten'] {
  const now = new Map(after.map((each) => [relationKey(each), each]));
  return before.flatMap((relation) => {
    const same = now.get(relationKey(relation));
    if (same === undefined || same.file === relation.file || same.bytes === 0 || relation.kind === 'i')
      return [];
    return [{ table: relation.name, bytes: same.bytes }];
  });
}
