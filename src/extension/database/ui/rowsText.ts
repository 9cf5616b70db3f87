/** Rows as the text of a document, and why they couldn't be read. */
import { env, l10n } from 'vscode';
import { sanitize } from '../../../base/sanitize.ts';
import { SqlError } from '../../window/sqlError.ts';
import { tableLines } from '../rows/formatRows.ts';
import type { PeekedRows } from '../rows/readRows.ts';
import { NotOneQueryError } from '../rows/statements.ts';

/** The names of what was read, and when that was. */
interface ReadingPlace {
  /** The name of the table or query. */
  readonly name: string;
  readonly project: string;
  readonly branch: string;
  readonly database: string;
  readonly time: Date;
}

/** Returns the title of a document, such as `orders · main · app · 14:03:22`. */
export const rowsTitle = ({ name, branch, database, time }: ReadingPlace): string =>
  [name, branch, database, time.toLocaleTimeString(env.language)]
    .map((part) => sanitize(part, 60))
    .join(' · ');

export function rowsText(peeked: PeekedRows, { project, branch, database, time }: ReadingPlace): string {
  const [projectText, branchText, databaseText] = [project, branch, database].map((part) =>
    sanitize(part, 100),
  );
  const lines = [
    l10n.t('Project {0}, branch {1}, database {2}', projectText ?? '', branchText ?? '', databaseText ?? ''),
    l10n.t('Read-only, as of {0}', time.toLocaleString(env.language)),
    '',
    ...tableLines(peeked, peeked.maxValue),
    '',
    rowCountText(peeked),
    ...(peeked.columnsLeftOut > 0 ? [l10n.t('{0} more columns', peeked.columnsLeftOut)] : []),
  ];
  return `${lines.join('\n')}\n`;
}

export function rowCountText({ rows: { length: count }, hasMore }: PeekedRows): string {
  if (hasMore) return l10n.t('The first {0} rows. There are more.', count);
  return count === 1 ? l10n.t('1 row') : l10n.t('{0} rows', count);
}

/** Returns the text that replaces rows which were read before the window was reloaded. */
export const forgottenRowsText = (): string =>
  l10n.t('These rows are no longer in memory. Run “Hosted Postgres: Peek Rows…” to read them again.');

/** @param seconds the limit of a statement. @returns an error with a message for the user */
export function explainReadError(error: unknown, seconds: number): unknown {
  if (error instanceof NotOneQueryError) return new Error(l10n.t('Select one statement that returns rows.'));
  if (!(error instanceof SqlError)) return error;
  return error.code === QUERY_CANCELED
    ? new SqlError(l10n.t('The database took longer than {0} seconds.', seconds), error.code)
    : error;
}

const QUERY_CANCELED = '57014';
