/** At which statement something is dangerous. A verdict doesn't depend on it: it says only where to look. */
import type { RehearsedStatement } from '../api/records/rehearsal.ts';
import type { Reason, Report } from './report.ts';

/** What Postgres calls statements that remove rows. */
const REMOVES = /^(?:DELETE|DROP|MERGE|TRUNCATE)/;

/** @returns undefined if it isn't known */
export function reasonStatement(report: Report, reason: Reason): RehearsedStatement | undefined {
  switch (reason.kind) {
    case 'failed':
      return reason.statement;
    case 'incomplete':
    case 'unused':
    case 'forgotten':
    case 'wayBack':
      return undefined;
    case 'blocked':
      return report.statements[reason.blocked.statements[0] ?? -1];
    case 'loss':
      return reason.loss.kind === 'rows'
        ? changing(report, reason.loss, ({ tags }) => tags.some((tag) => REMOVES.test(tag)))
        : changing(report, reason.loss, naming(reason.loss.name));
    case 'broken':
      return changing(report, reason.broken, naming(reason.broken.name));
  }
}

/**
 * A lock is seen first at the statement that takes it. Later ones of the same transaction don't take it again, so the last of those
 * that match is meant.
 * @param changed a table, or one of its columns
 */
function changing(
  { statements, locks }: Report,
  { database, name }: { readonly database: string; readonly name: string },
  matches: (statement: RehearsedStatement) => boolean,
): RehearsedStatement | undefined {
  const first = locks
    .filter((lock) => lock.database === database && `${name}.`.startsWith(`${lock.table}.`))
    .filter(({ mode }) => mode === 'AccessExclusiveLock' || mode === 'RowExclusiveLock')
    .map(({ statement }) => statement);
  const candidates = statements.filter((each, index) =>
    first.some((lock) => index >= lock && each.transaction === statements[lock]?.transaction),
  );
  return candidates.findLast(matches) ?? candidates[0];
}

const naming =
  (name: string) =>
  ({ text }: RehearsedStatement): boolean =>
    text.includes(name.slice(name.lastIndexOf('.') + 1));
