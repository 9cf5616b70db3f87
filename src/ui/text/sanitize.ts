/**
 * Makes untrusted text (names, error messages) safe to show. In notifications VS Code turns `[text](target)` into a
 * link, which can run a command; in Markdown it does much more.
 */

const MAX_LENGTH = 500;

// oxlint-disable-next-line no-control-regex -- control characters are what it removes
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]+/g;

/** One line of at most 500 characters, without control or bidi characters, links and icons. */
export const sanitize = (text: string): string => lineOf(text).replace(/([\]$])\(/g, '$1 (');

/** The name, or the id if the name has nothing to show. */
export const nameOrId = (name: string | null | undefined, id: string): string =>
  sanitize(name ?? '') || sanitize(id);

/** Escapes text for Markdown, including table cells. */
export const escapeMarkdown = (text: string): string =>
  lineOf(text)
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/[\\`*_{}[\]()#+\-.!|~>:@/$]/g, '\\$&');

function lineOf(text: string): string {
  const line = text.replace(CONTROL, ' ').trim();
  return (line.length > MAX_LENGTH ? `${line.slice(0, MAX_LENGTH - 1)}…` : line).toWellFormed();
}
