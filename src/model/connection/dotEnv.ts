/** Reads or sets one variable in the text of an `.env` file. All other lines stay unchanged. */

/** Replaces the text between two offsets (UTF-16 units). */
export interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The text of a file, with its byte order mark. @returns undefined if it isn't UTF-8 */
export function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

export function changeText(file: string, change: (text: string) => Replacement): string {
  const { start, end, text } = change(file);
  return `${file.slice(0, start)}${text}${file.slice(end)}`;
}

/**
 * Changes the last assignment, which is the effective one, or adds a line at the end. Keeps an `export` before it and a
 * comment after it.
 */
export function setVariable(file: string, name: string, value: string): Replacement {
  const text = quoteValue(value);
  const last = lastValue(file, name);
  return last === undefined ? appendLine(file, `${name}=${text}`) : { ...last, text };
}

/** The last assigned value without its quotes; undefined if there is none. */
export function getVariable(file: string, name: string): string | undefined {
  const last = lastValue(file, name);
  if (last === undefined) return undefined;
  const text = file.slice(last.start, last.end);
  const quote = QUOTED.test(text) ? text.charAt(0) : '';
  const value = quote === '' ? text : text.slice(1, -1);
  return quote === '"' ? value.replace(/\\([\\"$`])/g, '$1') : value;
}

/** Adds a line at the end, with the file's line endings. */
export function appendLine(file: string, line: string): Replacement {
  const eol = file.includes('\r\n') ? '\r\n' : '\n';
  const before = file === '' || file.endsWith('\n') ? '' : eol;
  return { start: file.length, end: file.length, text: `${before}${line}${eol}` };
}

/** A quoted value may span lines. Only a comment may follow it. */
const QUOTED = /^(?:"(?:[^"\\]|\\[^])*"|'[^']*'|`[^`]*`)(?=[ \t]*(?:\r?\n|$)|[ \t]+#)/;
/** Several parts, such as `"postgres://u:"$PASS"@h/db"`, or an unclosed quote: the rest of the line. */
const PARTS = /^["'`].*/;
/** The line up to a comment. */
const UNQUOTED = /^(?:[^\s#]|#(?<=\S#)|[ \t]+(?=[^\s#]))*/;

const lengthOfValue = (text: string): number =>
  (QUOTED.exec(text) ?? PARTS.exec(text) ?? UNQUOTED.exec(text))?.[0].length ?? 0;

/**
 * The range of the last assigned value. Text inside the quotes of another value isn't an assignment. A byte order mark may
 * come before the first one.
 */
function lastValue(file: string, name: string): Pick<Replacement, 'start' | 'end'> | undefined {
  const assignment = /^\ufeff?[ \t]*(?:export[ \t]+)?([\w.]+)[ \t]*=[ \t]*/gm;
  let last: Pick<Replacement, 'start' | 'end'> | undefined;
  for (let match = assignment.exec(file); match !== null; match = assignment.exec(file)) {
    const start = assignment.lastIndex;
    const end = start + lengthOfValue(file.slice(start));
    if (match[1] === name) last = { start, end };
    assignment.lastIndex = end;
  }
  return last;
}

/** Values that need no quotes, neither in a shell nor for libraries that read such files. */
const BARE = /^[\w./:@%+,=?~-]+$/;

function quoteValue(value: string): string {
  if (BARE.test(value)) return value;
  if (!value.includes("'")) return `'${value}'`;
  return `"${value.replace(/[\\"$`]/g, '\\$&')}"`;
}
