/** The only place that creates Markdown, for tooltips and hovers. Escapes all values, because names may contain Markdown. */
import { MarkdownString } from 'vscode';
import { escapeMarkdown } from '../../../base/sanitize.ts';
import type { CommandId } from '../../commandTable/commandTable.ts';

/** A template tag: escapes strings, and inserts other Markdown unchanged. */
export function markdown(parts: TemplateStringsArray, ...values: readonly (string | MarkdownString)[]) {
  const [first = '', ...others] = parts;
  const text = others.map((part, index) => toMarkdownText(values[index] ?? '') + part);
  return new MarkdownString(first + text.join(''));
}

const toMarkdownText = (value: string | MarkdownString): string =>
  typeof value === 'string' ? escapeMarkdown(value) : value.value;

export const markdownList = (lines: readonly string[]): MarkdownString =>
  new MarkdownString(lines.map((line) => `- ${escapeMarkdown(line)}`).join('\n'));

export type MarkdownRow = readonly [name: string, value: string | number | null | undefined];

/** Skips rows without a value. */
export function markdownTable(title: string, rows: readonly MarkdownRow[]): MarkdownString {
  const cells = rows.flatMap(([name, value]) =>
    value === undefined || value === null || value === ''
      ? []
      : [`| ${escapeMarkdown(name)} | ${escapeMarkdown(String(value))} |`],
  );
  return new MarkdownString(`**${escapeMarkdown(title)}**\n\n| | |\n|---|---|\n${cells.join('\n')}`);
}

/** Returns the text, followed by links that run commands with the argument. @param titles the titles of the links, by command */
export function withCommandLinks(
  text: MarkdownString,
  titles: Readonly<Partial<Record<CommandId, string>>>,
  argument: unknown,
): MarkdownString {
  const query = encodeURIComponent(JSON.stringify([argument])).replace(/[()]/g, (c) =>
    c === '(' ? '%28' : '%29',
  );
  const links = Object.entries(titles).map(
    ([command, title]) => `[${escapeMarkdown(title)}](command:${command}?${query})`,
  );
  const content = new MarkdownString(`${text.value}\n\n${links.join(' | ')}`);
  content.isTrusted = { enabledCommands: Object.keys(titles) };
  return content;
}
