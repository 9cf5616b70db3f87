/** The results as a table in Markdown, so that it can be read in a terminal and put into a document as it is. */
import type { Result } from './result.ts';

export function table(results: readonly Result[]): string {
  const head = ['what', 'ours', 'beside', 'ratio', 'goal', '', 'note'];
  const rows = results.map((each) => [
    each.what,
    each.ours,
    each.beside,
    each.ratio === undefined ? '' : `${each.ratio.toFixed(2)} ×`,
    each.goal,
    each.met ? 'met' : 'MISSED',
    each.note,
  ]);
  const widths = head.map((title, column) =>
    Math.max(3, ...[title, ...rows.map((row) => row[column] ?? '')].map((cell) => cell.length)),
  );
  // The notes come last and are long: padding them would only make the lines longer.
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => (column === cells.length - 1 ? cell : cell.padEnd(widths[column] ?? 0))).join(' | ')} |`;
  const rule = `|${widths.map((width, column) => '-'.repeat(column === head.length - 1 ? 6 : width + 2)).join('|')}|`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}
