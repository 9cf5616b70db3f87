/** One variable in the text of an `.env` file, set without touching any other line. Pure. */

/** Replaces what lies between two offsets (UTF-16 units) by `text`. */
export interface TextChange {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * Sets a variable: in its last assignment, which is the one that readers of such files take, else in a line of its own
 * at the end. `export` before it and a comment behind it stay.
 */
export function setVariable(file: string, name: string, value: string): TextChange {
  const text = quoteValue(value);
  const last = lastValue(file, name);
  return last === undefined ? appendLine(file, `${name}=${text}`) : { ...last, text };
}

/** Adds a line at the end, in the file's own line ends. */
export function appendLine(file: string, line: string): TextChange {
  const eol = file.includes('\r\n') ? '\r\n' : '\n';
  const before = file === '' || file.endsWith('\n') ? '' : eol;
  return { start: file.length, end: file.length, text: `${before}${line}${eol}` };
}

/** A quoted value may go over several lines; any other ends with the line, or before a comment. */
const QUOTED = /^(?:"(?:[^"\\]|\\[^])*"|'[^']*'|`[^`]*`)/;
const UNQUOTED = /^(?:[^\s#]|#(?<=\S#)|[ \t]+(?=[^\s#]))*/;

const lengthOfValue = (text: string): number => (QUOTED.exec(text) ?? UNQUOTED.exec(text))?.[0].length ?? 0;

/** Where the value of the last assignment is. What lies within another value's quotes is no assignment. */
function lastValue(file: string, name: string): Pick<TextChange, 'start' | 'end'> | undefined {
  const assignment = /^[ \t]*(?:export[ \t]+)?([\w.]+)[ \t]*=[ \t]*/gm;
  let last: Pick<TextChange, 'start' | 'end'> | undefined;
  for (let match = assignment.exec(file); match !== null; match = assignment.exec(file)) {
    const start = assignment.lastIndex;
    const end = start + lengthOfValue(file.slice(start));
    if (match[1] === name) last = { start, end };
    assignment.lastIndex = end;
  }
  return last;
}

/** Needs no quotes, neither for the libraries that read such files nor for a shell that sources them. */
const BARE = /^[\w./:@%+,=?~-]+$/;

function quoteValue(value: string): string {
  if (BARE.test(value)) return value;
  if (!value.includes("'")) return `'${value}'`;
  return `"${value.replace(/[\\"$`]/g, '\\$&')}"`;
}
