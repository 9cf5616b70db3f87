/** What has changed since a moment, in a line. */
import { l10n } from 'vscode';
import { sanitize } from '../../../base/sanitize.ts';
import { differencesText } from '../../window/ui/differencesText.ts';
import type { ChangesSince, ChangedTable } from '../../../api/records/records.ts';

/** The most characters of a text. A list shows no more, and what comes first matters most. */
const MAX_LENGTH = 80;
const MAX_NAME = 40;

/** Returns text such as `since then: customers dropped; orders 3 added, 12 changed`. */
export function changesText(changes: ChangesSince | undefined): string | undefined {
  if (changes === undefined) return undefined;
  const { tables, tables_count: count } = changes;
  if (count === 0) return l10n.t('no tables or rows changed since then');
  const isOneDatabase = tables.every(({ database }) => database === tables[0]?.database);
  const texts = tables.map((table) => tableText(table, isOneDatabase));
  for (let shown = texts.length; ; shown -= 1) {
    const others = count - shown;
    const more = others > 0 ? [l10n.t('{0} more', others)] : [];
    const text = l10n.t('since then: {0}', [...texts.slice(0, shown), ...more].join('; '));
    if (text.length <= MAX_LENGTH || shown <= 1) return text;
  }
}

function tableText(table: ChangedTable, isOneDatabase: boolean): string {
  const { database, schema, name, change, added, changed, deleted } = table;
  const isDatabase = !schema && name === database;
  const parts = [
    ...(isOneDatabase || isDatabase ? [] : [database]),
    ...(schema && schema !== 'public' ? [schema] : []),
    name,
  ];
  const full = parts.map((part) => sanitize(part, MAX_NAME) || '?').join('.');
  const what = [change ? changeText(change) : '', differencesText({ added, changed, deleted })];
  return `${isDatabase ? l10n.t('database {0}', full) : full} ${what.filter((text) => text !== '').join(', ')}`;
}

function changeText(change: string): string {
  switch (change) {
    case 'created':
      return l10n.t('created');
    case 'dropped':
      return l10n.t('dropped');
    case 'replaced':
      return l10n.t('replaced');
    case 'truncated':
      return l10n.t('truncated');
    default:
      return l10n.t('altered');
  }
}
