/** What differs between the rows of two branches, as the texts and the title of a diff editor. */
import { l10n } from 'vscode';
import { sanitize } from '../../../base/sanitize.ts';
import { differencesText } from '../../window/ui/differencesText.ts';
import type { NoTableError, RowComparison } from '../rows/compareRows.ts';
import { tableLines, tableWidths } from '../rows/formatRows.ts';
import type { DifferingRow } from '../rows/findDifferingRows.ts';

/** Returns text such as `3 added, 1 changed, 2 deleted`. */
export const differenceCountsText = ({ added, changed, deleted }: RowComparison): string =>
  differencesText({ added, changed, deleted }) || l10n.t('no differences');

/** Returns text such as `orders: 3 added, 1 changed, 2 deleted (main ↔ feature)`. */
export const comparisonTitle = (
  name: string,
  [before, after]: readonly [string, string],
  comparison: RowComparison,
): string =>
  `${name}: ${differenceCountsText(comparison)} (${sanitize(before, 60)} ↔ ${sanitize(after, 60)})`;

/**
 * Returns the texts for both sides of a diff editor, with columns of the same width. Lines about the comparison are the same in
 * both, so that they don't count as differences.
 */
export function comparisonTexts(found: RowComparison): readonly [before: string, after: string] {
  const { columns, rightAligned, before, after, key, hasMore } = found;
  const differingTable = (rows: readonly DifferingRow[]) => ({
    columns,
    rightAligned,
    rows: rows.map(({ cells }) => cells),
  });
  const tables = [differingTable(before), differingTable(after)] as const;
  const widths = tableWidths(tables, Number.MAX_SAFE_INTEGER);
  const names = (list: readonly string[]) => list.map((name) => sanitize(name)).join(', ');
  const notes = [
    l10n.t('Only rows that differ. Nothing was changed.'),
    ...(key.length === 0
      ? [l10n.t('Without a primary key, a changed row is shown as one deleted and one added row.')]
      : []),
    ...(found.onlyBefore.length > 0
      ? [l10n.t('Columns only on the left: {0}', names(found.onlyBefore))]
      : []),
    ...(found.onlyAfter.length > 0 ? [l10n.t('Columns only on the right: {0}', names(found.onlyAfter))] : []),
    ...(hasMore ? [l10n.t('More rows differ than can be shown.')] : []),
  ];
  const [left, right] = tables.map((table) =>
    [...notes, '', ...tableLines(table, Number.MAX_SAFE_INTEGER, widths), ''].join('\n'),
  );
  return [left ?? '', right ?? ''];
}

export const missingTableError = (
  { side }: NoTableError,
  name: string,
  [before, after]: readonly [string, string],
): Error => new Error(l10n.t("{0} doesn't exist on {1}.", name, side === 'before' ? before : after));
