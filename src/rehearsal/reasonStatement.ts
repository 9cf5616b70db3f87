/**
 * Finds the statement because of which a migration isn't safe, and so the file of the statement. The verdict about the whole migration
 * doesn't depend on this.
 */
import type { Rehearsal, RehearsedStatement } from '../api/records/rehearsal.ts';
import { INCONCLUSIVE_REASONS, type VerdictReason, type Verdict } from './verdict.ts';

type Seen = Pick<Rehearsal, 'statements' | 'locks'>;

/** Matches the tags by which Postgres names statements that remove rows. */
const REMOVES = /^(?:DELETE|DROP|MERGE|TRUNCATE)/;

/** Finds the statement that is the cause of a reason. @returns undefined if it isn't known */
export function reasonStatement(report: Seen, reason: VerdictReason): RehearsedStatement | undefined {
  switch (reason.kind) {
    case 'failed':
    case 'uncommitted':
      return reason.statement;
    case 'incomplete':
    case 'unused':
    case 'forgotten':
    case 'wayBack':
      return undefined;
    case 'blocked': {
      const [first] = reason.blocked.statements;
      return first === undefined ? undefined : report.statements[first];
    }
    case 'loss':
      return reason.loss.kind === 'rows'
        ? statementThatChanged(report, reason.loss, ({ tags }) => tags.some((tag) => REMOVES.test(tag)))
        : statementThatChanged(report, reason.loss, containsName(reason.loss.name));
    case 'broken':
      return statementThatChanged(report, reason.broken, containsName(reason.broken.name));
  }
}

/**
 * Finds the statement that has made a change. A lock is recorded only at the first statement of a transaction that takes it, but a
 * later one may have made the change. So this returns the last matching statement from there to the end of the transaction, or else
 * the first candidate.
 * @param changed a table, or one of its columns
 */
function statementThatChanged(
  { statements, locks }: Seen,
  changed: { readonly database: string; readonly name: string },
  matches: (statement: RehearsedStatement) => boolean,
): RehearsedStatement | undefined {
  const first = locks
    .filter(
      ({ database, table }) => database === changed.database && `${changed.name}.`.startsWith(`${table}.`),
    )
    .filter(({ mode }) => mode === 'AccessExclusiveLock' || mode === 'RowExclusiveLock')
    .map(({ statement }) => statement);
  const candidates = statements.filter((each, index) =>
    first.some((lock) => index >= lock && each.transaction === statements[lock]?.transaction),
  );
  // A tool's own notes about a file may contain the same words, so statements in the files come first.
  const placed = candidates.filter(({ place }) => place !== undefined);
  const likely = placed.length > 0 ? placed : candidates;
  return likely.findLast(matches) ?? likely[0];
}

const containsName =
  (name: string) =>
  ({ text }: RehearsedStatement): boolean =>
    text.includes(name.slice(name.lastIndexOf('.') + 1));

/** The SQLSTATE of all statements after an error in a transaction. */
const IN_FAILED_TRANSACTION = '25P02';

/**
 * Finds the error of Postgres that may be why a command has failed; only the command knows for certain. It is the last error of a
 * statement in a file, or else the last error of all, because a tool may send statements that it expects to fail. An error doesn't
 * count if the same statement succeeds later.
 * @returns the statement with the error, and whether the command has continued after it
 */
export function lastStatementError(statements: readonly RehearsedStatement[]) {
  const isRepeated = ({ text, from }: RehearsedStatement) =>
    statements.some((later) => later.from > from && later.error === undefined && later.text === text);
  const failed = statements.filter(
    (each) =>
      each.error !== undefined &&
      each.isSkipped !== true &&
      each.error.code !== IN_FAILED_TRANSACTION &&
      !isRepeated(each),
  );
  const placed = failed.findLast(({ place }) => place !== undefined);
  const statement = placed ?? failed.at(-1);
  const later = statement === undefined ? [] : statements.slice(statements.indexOf(statement) + 1);
  const hasGoneOn = placed === undefined && later.some(({ tags }) => tags.some((tag) => tag !== 'ROLLBACK'));
  return { statement, hasGoneOn };
}

/** Whether one file of the migration is safe. */
export interface FileVerdict {
  readonly file: string;
  /**
   * `not run` if the file had been applied before, or an earlier file has failed. `unclear` if the file of something dangerous isn't
   * known.
   */
  readonly verdict: Verdict | 'not run' | 'unclear';
}

/** Returns the verdict about each file, in the order in which they run. */
export function fileVerdicts(
  seen: Seen,
  reasons: readonly VerdictReason[],
  files: readonly string[],
): FileVerdict[] {
  const reasonsIn = Map.groupBy(reasons, (reason) => reasonStatement(seen, reason)?.place?.file);
  return files.map((file) => {
    const own = reasonsIn.get(file) ?? [];
    if (!seen.statements.some(({ place }) => place?.file === file)) return { file, verdict: 'not run' };
    if (own.some(({ kind }) => INCONCLUSIVE_REASONS.has(kind))) return { file, verdict: 'failed' };
    if (own.length > 0) return { file, verdict: 'dangerous' };
    return { file, verdict: reasonsIn.has(undefined) ? 'unclear' : 'safe' };
  });
}
