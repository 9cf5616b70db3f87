/**
 * Decides how much of a result a model gets, and formats it. Each result is sent as text and as structure. The strictest clients are
 * Copilot CLI, which shows both, and under 1 KB of them if they have more than 20 KB together, and Codex, which cuts a structure of
 * 12 KB. Others cut long results at the end of a line, and drop a line that is too long.
 */

/** The most bytes of a result as JSON, which is sent twice. */
export const MAX_OUTPUT = 9000;

/** Returns a result as JSON, in which each row, record or moment of a list has its own line. */
export const outputText = (output: object): string => jsonLines(output, ',\n');

function jsonLines(value: unknown, separator = ','): string {
  if (Array.isArray(value)) {
    const hasRecords = value.some((item) => typeof item === 'object' && item !== null);
    return hasRecords ? `[\n${value.map((item) => jsonLines(item)).join(',\n')}\n]` : JSON.stringify(value);
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${jsonLines(field)}`).join(separator)}}`;
}

/** Returns the number of bytes of a value as JSON, with a separator. */
export const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '') + 2;

/** Returns the first items, as many as fit. */
export function fittingItems<T>(items: readonly T[], maxBytes = MAX_OUTPUT): readonly T[] {
  let left = maxBytes;
  const end = items.findIndex((item) => (left -= jsonBytes(item)) < 0);
  return end === -1 ? items : items.slice(0, end);
}

/** Returns the text, or as many of its first lines as fit; if not even the first line fits, the start of that. */
export function fittingText(text: string, maxBytes = MAX_OUTPUT): string {
  if (jsonBytes(text) <= maxBytes) return text;
  const lines = text.split('\n');
  let left = maxBytes;
  // Each line counts with its quotes, which are as long as the line break is in JSON.
  const end = lines.findIndex((line) => (left -= jsonBytes(line) - 2) < 0);
  // A character has at most six bytes in JSON.
  return end === 0 ? text.slice(0, maxBytes / 6) : lines.slice(0, end === -1 ? undefined : end).join('\n');
}

type Row = readonly (string | null)[];

/** Returns the first rows, as many as fit. If not even the first one does, its values are cut until it fits. */
export function fittingRows(
  rows: readonly Row[],
  maxBytes: number,
): { readonly rows: (string | null)[][]; readonly isCut: boolean } {
  const fitting = fittingItems(rows, maxBytes);
  const [first] = rows;
  const shown = fitting.length === 0 && first !== undefined ? [cutRow(first, maxBytes)] : fitting;
  return { rows: shown.map((row) => [...row]), isCut: shown.length < rows.length || shown[0] !== first };
}

function cutRow(row: Row, maxBytes: number): Row {
  let length = Math.max(...row.map((value) => value?.length ?? 0));
  let cut = row;
  while (length > 1 && jsonBytes(cut) > maxBytes) {
    length = Math.floor(length / 2);
    cut = row.map((value) => value && cutValue(value, length));
  }
  return cut;
}

export const cutValue = (value: string, length: number): string =>
  value.length <= length ? value : `${value.slice(0, length).toWellFormed()}…`;
