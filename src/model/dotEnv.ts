/** One variable in the text of an `.env` file, set without touching any other line. Pure. */

/** Replaces what lies between two offsets (UTF-16 units) by `text`. */
export interface TextChange {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const escaped = (name: string): string => name.replace(/[^\w]/g, '\\$&');

/**
 * Sets a variable: in its last assignment, which is the one that readers of such files take, else in a line of its own
 * at the end. `export` before it and a comment behind it stay.
 */
export function setVariable(file: string, name: string, value: string): TextChange {
  const assignment = new RegExp(`^[ \\t]*(?:export[ \\t]+)?${escaped(name)}[ \\t]*=[ \\t]*`, 'gm');
  const last = [...file.matchAll(assignment)].filter(({ index }) => !isInsideQuotes(file, index)).at(-1);
  const text = quoted(value);
  if (last === undefined) return appendLine(file, `${name}=${text}`);
  const start = last.index + last[0].length;
  return { start, end: start + lengthOfValue(file.slice(start)), text };
}

/** Adds a line at the end, in the file's own line ends. */
export function appendLine(file: string, line: string): TextChange {
  const eol = file.includes('\r\n') ? '\r\n' : '\n';
  const before = file === '' || file.endsWith('\n') ? '' : eol;
  return { start: file.length, end: file.length, text: `${before}${line}${eol}` };
}

/** A quoted value may go over several lines; any other ends with the line, or before a comment. */
const QUOTED = /^(?:"(?:[^"\\]|\\[^])*"|'[^']*'|`[^`]*`)/;
const PLAIN = /^(?:[^\s#]|#(?<=\S#)|[ \t]+(?=[^\s#]))*/;

const lengthOfValue = (text: string): number => (QUOTED.exec(text) ?? PLAIN.exec(text))?.[0].length ?? 0;

/** Whether the offset lies within a quoted value that began on a line before. */
function isInsideQuotes(file: string, offset: number): boolean {
  const assignment = /^[ \t]*(?:export[ \t]+)?[\w.]+[ \t]*=[ \t]*/gm;
  for (let match = assignment.exec(file); match !== null; match = assignment.exec(file)) {
    if (match.index >= offset) return false;
    const start = match.index + match[0].length;
    const end = start + lengthOfValue(file.slice(start));
    if (end > offset) return true;
    assignment.lastIndex = Math.max(end, assignment.lastIndex);
  }
  return false;
}

/** Needs no quotes, neither for the libraries that read such files nor for a shell that sources them. */
const BARE = /^[\w./:@%+,=?~-]+$/;

function quoted(value: string): string {
  if (BARE.test(value)) return value;
  if (!value.includes("'")) return `'${value}'`;
  return `"${value.replace(/[\\"$`]/g, '\\$&')}"`;
}
