/** One line of the result table: a value of the project, and the baseline measured in the same run. */
export interface Result {
  readonly what: string;
  /** A value with its unit. */
  readonly ours: string;
  readonly baseline: string;
  /** Ours divided by the baseline. Undefined if there is no baseline. */
  readonly ratio: number | undefined;
  readonly goal: string;
  readonly met: boolean;
  readonly note: string;
}

export const ms = (value: number): string => `${value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)} ms`;

export const perSecond = (value: number): string => `${Math.round(value).toLocaleString('en-US')}/s`;

export const kilobytes = (bytes: number): string => `${(bytes / 1024).toFixed(1)} KB`;

/** Formats the results as a Markdown table, which is also readable in a terminal. */
export function table(results: readonly Result[]): string {
  const head = ['what', 'ours', 'baseline', 'ratio', 'goal', '', 'note'];
  const rows = results.map((each) => [
    each.what,
    each.ours,
    each.baseline,
    each.ratio === undefined ? '' : `${each.ratio.toFixed(2)} ×`,
    each.goal,
    each.met ? 'met' : 'MISSED',
    each.note,
  ]);
  const widths = head.map((title, column) =>
    Math.max(3, ...[title, ...rows.map((row) => row[column] ?? '')].map((cell) => cell.length)),
  );
  // Notes are long and in the last column, so they are not padded.
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => (column === cells.length - 1 ? cell : cell.padEnd(widths[column] ?? 0))).join(' | ')} |`;
  const rule = `|${widths.map((width, column) => '-'.repeat(column === head.length - 1 ? 6 : width + 2)).join('|')}|`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}
