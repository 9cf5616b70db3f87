/**
 * Text of others (names, error messages) on its way to the screen. VS Code makes links, commands among them, out of
 * `[text](target)` in notifications and out of much more in Markdown; these keep text what it is.
 */

const LONGEST = 500;

// oxlint-disable-next-line no-control-regex -- these are the characters that are to go
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]+/g;

/** One line of bounded length without control or direction characters, and neither a link nor an icon to VS Code. */
export const plain = (text: string): string => lineOf(text).replace(/([\]$])\(/g, '$1 (');

/** For Markdown: shown as it is, whatever it contains, in a table cell too. */
export const markdown = (text: string): string =>
  lineOf(text)
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/[\\`*_{}[\]()#+\-.!|~>:@/$]/g, '\\$&');

function lineOf(text: string): string {
  const line = text.replace(CONTROL, ' ').trim();
  return (line.length > LONGEST ? `${line.slice(0, LONGEST - 1)}…` : line).toWellFormed();
}
