/**
 * Makes text that may come from the service safe to show. In messages and prompts VS Code turns `[text](target)` into a
 * link, which can run a command, and in many labels `$(id)` into an icon.
 */

const MAX_LENGTH = 500;

/** Control and format characters, such as those that are invisible or change the direction of the text. */
const CONTROL = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;

/** Returns one line of limited length, without control characters, bidi characters, links or icons. */
export const sanitize = (text: string, maxLength = MAX_LENGTH): string =>
  truncate(toOneLine(text).replace(/([\]$])(?=\()/g, '$1 '), maxLength);

/** Returns the name, or the id if the name has no visible characters. */
export const nameOrId = (name: string | null | undefined, id: string): string =>
  sanitize(name ?? '') || sanitize(id);

export const displayName = (record: {
  readonly id: string | number;
  readonly name?: string | null | undefined;
}): string => nameOrId(record.name, String(record.id));

/** Makes text one line of limited length, and escapes it for Markdown, including table cells. */
export const escapeMarkdown = (text: string): string =>
  truncate(toOneLine(text), MAX_LENGTH)
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/[\\`*_{}[\]()#+\-.!|~>:@/$]/g, '\\$&');

const toOneLine = (text: string): string => text.replace(CONTROL, ' ').trim();

const truncate = (line: string, maxLength: number): string =>
  (line.length > maxLength ? `${line.slice(0, maxLength - 1)}…` : line).toWellFormed();
