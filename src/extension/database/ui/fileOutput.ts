/** What the driver prints of a SQL file, as psql would, and how a file ended. */
import { l10n } from 'vscode';
import { PsqlCommandError, ScriptError } from '../../../base/sql/sqlScript.ts';
import type { ScriptResult } from '../../../base/sql/runScript.ts';
import { MAX_VALUE_TEXT, NUMBER_TYPES, tableLines } from '../rows/formatRows.ts';

export function resultText({ command, fields, rows, rowCount }: ScriptResult): string {
  if (fields.length === 0) return `${command}\n`;
  const columns = fields.map(({ name }) => name);
  const isNumber = ({ dataTypeID }: (typeof fields)[number]) => NUMBER_TYPES.has(dataTypeID);
  const rightAligned = new Set(fields.flatMap((field, index) => (isNumber(field) ? index : [])));
  const count =
    rowCount > rows.length
      ? l10n.t('The first {0} of {1} rows', rows.length, rowCount)
      : rowCount === 1
        ? l10n.t('1 row')
        : l10n.t('{0} rows', rowCount);
  return `${[...tableLines({ columns, rows, rightAligned }, MAX_VALUE_TEXT), count, ''].join('\n')}\n`;
}

/** @param name the name of the file */
export function failureText(error: unknown, name: string): string {
  if (!(error instanceof ScriptError)) return error instanceof Error ? error.message : String(error);
  const reason =
    error instanceof PsqlCommandError
      ? l10n.t('{0} is a command of psql. Install psql to run this file.', error.command)
      : error.message;
  return l10n.t('{0}, line {1}: {2}', name, error.line, reason);
}

/** Says that a file was canceled. Its earlier statements, or even the last one, may have been committed by then. */
export const canceledText = (): string => l10n.t('Canceled. What was committed before that stays.');
