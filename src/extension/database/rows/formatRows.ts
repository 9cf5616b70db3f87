/** Rows as text in aligned columns, in which nothing can be mistaken for something else. */
import { quoteText } from '../../../base/sql/quote.ts';

/** The most characters of a value that are shown. */
export const MAX_VALUE_TEXT = 120;

/** The ids of int8, int2, int4, oid, float4, float8, money and numeric, which are aligned on the right. */
export const NUMBER_TYPES: ReadonlySet<number> = new Set([20, 21, 23, 26, 700, 701, 790, 1700]);

export type CellText = string | null;

/** Columns and rows of texts, to be shown as a table. */
export interface RowTable {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly CellText[])[];
  /** The positions of columns with numbers. */
  readonly rightAligned?: ReadonlySet<number>;
}

/** Returns the lines of a table: its header, a rule, and the rows. @param widths see `tableWidths` */
export function tableLines(
  table: RowTable,
  maxValue: number,
  widths: readonly number[] = tableWidths([table], maxValue),
): readonly string[] {
  const line = (texts: readonly string[]) =>
    texts
      .map((text, index) => padCell(text, widths[index] ?? 0, table.rightAligned?.has(index) === true))
      .join(' │ ')
      .trimEnd();
  const [header = [], ...rows] = cellTexts(table, maxValue);
  return [line(header), widths.map((width) => '─'.repeat(width)).join('─┼─'), ...rows.map(line)];
}

/** Returns the width of each column in characters of an editor, so that several tables are aligned. */
export function tableWidths(tables: readonly RowTable[], maxValue: number): readonly number[] {
  const widths: number[] = [];
  for (const row of tables.flatMap((table) => cellTexts(table, maxValue)))
    for (const [index, text] of row.entries())
      widths[index] = Math.max(widths[index] ?? 0, displayWidth(text));
  return widths;
}

/** Returns the texts of the header and of the rows. */
const cellTexts = ({ columns, rows }: RowTable, maxValue: number): readonly (readonly string[])[] => [
  columns.map((name) => quoteIf(/^$|│|^'/, name, MAX_NAME)),
  ...rows.map((row) => row.map((value) => cellText(value, maxValue))),
];

/** The most characters of a column's name that are shown. In Postgres, names have at most 63 bytes, but not in every server. */
const MAX_NAME = 80;

/**
 * Returns the text of a value. NULL has no quotes. A text has quotes if it is empty, could be taken for NULL, for two cells or for
 * the beginning of a longer text, or has a space at an end.
 */
const cellText = (value: CellText, maxValue: number): string =>
  value === null ? 'NULL' : quoteIf(/^$|^ | $|^NULL$|^'|│|…$/i, value, maxValue);

/**
 * Quotes a text that matches the pattern, with doubled quotes inside. A text that is cut ends with an ellipsis, outside of the
 * quotes.
 */
function quoteIf(pattern: RegExp, value: string, maxLength: number): string {
  const text = showInvisible(value.slice(0, maxLength).toWellFormed());
  const quoted = pattern.test(text) ? quoteText(text) : text;
  return value.length > maxLength ? `${quoted}…` : quoted;
}

/**
 * The characters that stand for hidden ones. If a text itself contains one of these, its number is shown instead, so that it isn't
 * taken for a hidden one.
 */
const SIGNS = '\u2400-\u2421‹';
const HIDDEN = new RegExp(`[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}\\p{DI}${SIGNS}\u2800]|(?! )\\p{Zs}`, 'gu');

/** Shows characters that are invisible, change the direction of the text, end the line or look like a space. */
const showInvisible = (text: string): string =>
  text.replace(HIDDEN, (character) => {
    const code = character.codePointAt(0) ?? 0;
    if (code < 0x20) return String.fromCodePoint(0x24_00 + code);
    return code === 0x7f ? '␡' : `‹U+${code.toString(16).toUpperCase().padStart(4, '0')}›`;
  });

const WIDE =
  /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Emoji_Presentation}\uff01-\uff60]/gu;

const displayWidth = (text: string): number => {
  // Most texts are ASCII, whose width is their length.
  if (/^[\u0020-\u007e]*$/.test(text)) return text.length;
  const [wide, marks] = [text.match(WIDE)?.length ?? 0, text.match(/\p{M}/gu)?.length ?? 0];
  return (text.match(/./gsu)?.length ?? 0) + wide - marks;
};

function padCell(text: string, width: number, isRight: boolean): string {
  const spaces = ' '.repeat(Math.max(0, width - displayWidth(text)));
  return isRight ? spaces + text : text + spaces;
}
