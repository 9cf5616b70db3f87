/**
 * Finds the statements because of which a migration isn't safe, and so their files. The verdict about the whole migration doesn't
 * depend on this.
 */
import type { HeldLock, Rehearsal, RehearsedStatement } from '../api/records/rehearsal.ts';
import { identifierIn, tokensOf } from '../base/sql/sqlTokens.ts';
import type { DataLoss } from './losses.ts';
import { isMaybeCut } from './statementRanges.ts';
import { INCONCLUSIVE_REASONS, type VerdictReason, type Verdict } from './verdict.ts';

type Seen = Pick<Rehearsal, 'statements' | 'locks'>;

/**
 * Finds the statements of which one is the cause of a reason, as far as that is certain: functions and triggers can do what no
 * statement shows.
 * @returns several if each of them may be the cause, and none if nothing is known
 */
export function reasonStatements(seen: Seen, reason: VerdictReason): readonly RehearsedStatement[] {
  switch (reason.kind) {
    case 'failed':
    case 'uncommitted':
      return reason.statement === undefined ? [] : [reason.statement];
    case 'incomplete':
    case 'unused':
    case 'forgotten':
    case 'wayBack':
      return [];
    case 'blocked': {
      const [first] = reason.blocked.statements;
      return seen.statements.filter((_, index) => index === first);
    }
    case 'loss':
      return statementsThatLose(seen, reason.loss);
    case 'broken':
      // What breaks a table can be about others: a function that it calls, or what that function reads.
      return placedFirst(
        seen.statements.filter((each) => isAnyCommand(each, (tag) => !LEAVES_ALL.test(tag))),
      );
  }
}

/** Matches the tags of statements that change nothing but their session and transaction. */
const LEAVES_ALL =
  /^(?:BEGIN|START TRANSACTION|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|SET|RESET|SHOW|DISCARD|LOCK|LISTEN|UNLISTEN|NOTIFY|PREPARE|DEALLOCATE|COMMENT|ANALYZE)\b/;
/** Matches the tags of statements that change no row or column of a table that exists. The script of an extension can. */
const LEAVES_ROWS =
  /^(?:CREATE (?!EXTENSION)|GRANT|REVOKE|VACUUM|REINDEX|DROP (?:INDEX|TRIGGER|POLICY|RULE|VIEW)\b)/;
/** Matches the tags of statements that change rows. Only triggers, and rules, can let them do more. */
const CHANGES_ROWS = /^(?:INSERT|UPDATE|DELETE|MERGE|TRUNCATE|COPY)\b/;

/**
 * Whether any command of a statement, by its tag without a number of rows, may meet a condition. A statement without tags may, because
 * samples have none, unless it has failed or is only a comment.
 */
function isAnyCommand(
  { tags, error, text }: RehearsedStatement,
  isWanted: (tag: string) => boolean,
): boolean {
  if (tags.length > 0) return tags.some((tag) => isWanted(tag.replace(/[ \d]+$/, '')));
  return error === undefined && tokensOf(text, 1).next().done !== true;
}

/** Statements in the files come first: a tool's own notes about a file are no cause. */
function placedFirst(statements: readonly RehearsedStatement[]): readonly RehearsedStatement[] {
  const placed = statements.filter(({ place }) => place !== undefined);
  return placed.length > 0 ? placed : statements;
}

/**
 * Finds the statements that may have made a loss. A lock is recorded only at the first statement of a transaction that takes it, but a
 * later one may have made the change. So all statements from there to the end of the transaction may, unless their tags, or the
 * words of an ALTER TABLE, show that they can't.
 */
function statementsThatLose({ statements, locks }: Seen, loss: DataLoss): readonly RehearsedStatement[] {
  const first = locks
    .filter((lock) => isOfTable(lock, loss))
    .filter(({ mode }) => mode === 'AccessExclusiveLock' || mode === 'RowExclusiveLock')
    .map(({ statement }) => statement);
  const candidates = placedFirst(
    statements.filter((each, index) =>
      first.some((lock) => index >= lock && each.transaction === statements[lock]?.transaction),
    ),
  );
  const renaming = candidates.findIndex((each) => isAnyCommand(each, (tag) => mayRename(tag, each, loss)));
  const possible = candidates.filter((each, index) => {
    const isNameKept = renaming === -1 || index <= renaming;
    return isAnyCommand(each, (tag) => canLose(tag, each, loss, { isNameKept }));
  });
  return possible.length > 0 ? possible : candidates;
}

/** Whether the lock is of the table, or of another one that had its name in between. */
const isOfTable = ({ database, id, table }: HeldLock, loss: DataLoss): boolean =>
  database === loss.database && (loss.tables.includes(id) || `${loss.name}.`.startsWith(`${table}.`));

/** @param options `isNameKept`: whether the column has the name from before the migration when the statement begins */
function canLose(
  tag: string,
  { text }: RehearsedStatement,
  { fate, column }: DataLoss,
  { isNameKept }: { readonly isNameKept: boolean },
): boolean {
  if (LEAVES_ALL.test(tag) || LEAVES_ROWS.test(tag)) return false;
  if (tag === 'ALTER TABLE')
    return column === undefined ? fate === 'replaced' : !isNameKept || mayName(text, column);
  if (fate === 'gone') return !CHANGES_ROWS.test(tag);
  return fate === 'replaced' || !tag.startsWith('DROP');
}

/** Whether a command may give the column another name. */
function mayRename(tag: string, { text }: RehearsedStatement, { column }: DataLoss): boolean {
  if (tag === 'ALTER TABLE') return column !== undefined && mayName(text, 'rename') && mayName(text, column);
  return (
    !LEAVES_ALL.test(tag) && !LEAVES_ROWS.test(tag) && !CHANGES_ROWS.test(tag) && !tag.startsWith('DROP')
  );
}

/** Whether a statement contains this name or keyword, or a name with Unicode escapes, which may be the same one. */
function mayName(text: string, name: string): boolean {
  if (isMaybeCut(text)) return true;
  for (const token of tokensOf(text))
    if (identifierIn(token) === name || (token.kind === 'quotedName' && identifierIn(token) === undefined))
      return true;
  return false;
}

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
  const found = reasons.map((reason) => {
    const places = reasonStatements(seen, reason).map(({ place }) => place?.file);
    return { reason, files: new Set(places.length === 0 ? [undefined] : places) };
  });
  return files.map((file) => {
    const own = found.filter((each) => each.files.size === 1 && each.files.has(file));
    if (!seen.statements.some(({ place }) => place?.file === file)) return { file, verdict: 'not run' };
    if (own.some(({ reason }) => INCONCLUSIVE_REASONS.has(reason.kind))) return { file, verdict: 'failed' };
    if (own.length > 0) return { file, verdict: 'dangerous' };
    const isPossible = found.some((each) => each.files.has(undefined) || each.files.has(file));
    return { file, verdict: isPossible ? 'unclear' : 'safe' };
  });
}
