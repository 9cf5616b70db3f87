/**
 * Reads or sets one variable in the text of an `.env` file. Libraries, Node, Docker and shells read such files by different
 * rules for quotes, escapes and comments. So of a URL, only the parts that change are replaced, inside the text as it is.
 */
import { replaceUrlTarget } from '../../api/addresses/databaseUrl.ts';

/** Replaces the text between two offsets (UTF-16 units). */
export interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Returns the text of a file, with its byte order mark. @returns undefined if it isn't UTF-8 */
export function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

export function applyReplacement(file: string, change: (text: string) => Replacement): string {
  const { start, end, text } = change(file);
  return `${file.slice(0, start)}${text}${file.slice(end)}`;
}

/** A change of a variable. */
interface ValueChange extends Replacement {
  /** Whether the form of the old value can't hold the new one, so that programs may read it differently from now on. */
  readonly isRequoted: boolean;
}

/** Returns the change of the last assignment, which is the effective one, or of a new line at the end. */
export function changeOfVariable(file: string, name: string, value: string): ValueChange {
  const last = lastValue(file, name);
  if (last === undefined) return { ...appendLine(file, `${name}=${quoteValue(value)}`), isRequoted: false };
  const { start, end, quote } = last;
  const old = file.slice(start, end);
  const text = replaceUrlTarget(old, value);
  if (text === undefined ? canHold(quote, old, value) : quote !== '' || !endsInShell(old, text))
    return { start, end, text: text ?? value, isRequoted: false };
  const outer = quote?.length ?? 0;
  return { start: start - outer, end: end + outer, text: quoteValue(text ?? value), isRequoted: old !== '' };
}

/** A variable whose value is looked up before the file is changed. */
export interface VariableChange {
  readonly name: string;
  /** The value to replace; undefined for any. A secret. */
  readonly before?: string;
  /** A secret. */
  readonly after: string;
}

/** Returns the new text; undefined if a variable has another value by now. */
export function setVariables(
  file: string,
  changes: readonly VariableChange[],
): { readonly text: string; readonly isRequoted: boolean } | undefined {
  const isCurrent = ({ name, before, after }: VariableChange) =>
    before === undefined || [before, after].includes(getVariable(file, name) ?? '');
  if (!changes.every(isCurrent)) return undefined;
  let [text, isRequoted] = [file, false];
  for (const { name, after } of changes) {
    const change = changeOfVariable(text, name, after);
    isRequoted ||= change.isRequoted;
    text = applyReplacement(text, () => change);
  }
  return { text, isRequoted };
}

/** Inserts a comment above the last assignment, with the lines that assigned the variable in a former text of the file. */
export function keepFormerValue(file: string, former: string, name: string): string {
  const [last, old] = [lastValue(file, name), lastValue(former, name)];
  if (last === undefined || old === undefined) return file;
  const end = former.indexOf('\n', old.end);
  const kept = former.slice(lineStart(former, old), end === -1 ? undefined : end);
  const lines = kept.replace(/\r$/, '').split(/\r?\n/);
  const eol = file.includes('\r\n') ? '\r\n' : '\n';
  const comment = lines.map((line) => `# ${line}`.trimEnd() + eol).join('');
  const start = lineStart(file, last);
  return `${file.slice(0, start)}${comment}${file.slice(start)}`;
}

/** Returns where the line of a value begins: in the first line, after the byte order mark. */
const lineStart = (file: string, { start }: Pick<Replacement, 'start'>): number =>
  file.lastIndexOf('\n', start - 1) + 1 || (file.startsWith('\ufeff') ? 1 : 0);

/** Returns the last assigned value without its quotes; undefined if there is none. */
export function getVariable(file: string, name: string): string | undefined {
  const last = lastValue(file, name);
  if (last === undefined) return undefined;
  const text = file.slice(last.start, last.end);
  return last.quote === '"' ? text.replace(/\\([\\"$`])/g, '$1') : text;
}

/** Adds a line at the end, with the file's line endings. */
export function appendLine(file: string, line: string): Replacement {
  const eol = file.includes('\r\n') ? '\r\n' : '\n';
  const before = file === '' || file.endsWith('\n') ? '' : eol;
  return { start: file.length, end: file.length, text: `${before}${line}${eol}` };
}

/** Matches a space that doesn't end a line. */
const BLANK = '[^\\S\\r\\n\\u2028\\u2029]';
/** Only the library `dotenv` reads the form `NAME: value`. */
const ASSIGNMENT = new RegExp(
  `^${BLANK}*(?:export${BLANK}+)?([\\w.-]+)(?:${BLANK}*=${BLANK}*|:${BLANK}+)`,
  'gm',
);
/** A quoted value may span lines. Only a comment may follow it. */
const QUOTED = new RegExp(
  `^(?:"(?:[^"\\\\]|\\\\[^])*"|'[^']*'|\`[^\`]*\`)(?=${BLANK}*(?:\\r?\\n|$)|${BLANK}+#)`,
);
/** Matches several parts, such as `"postgres://u:"$PASS"@h/db"`, or an unclosed quote, up to the end of the line. */
const PARTS = /^["'`].*/;
/** Matches the line up to a comment. */
const UNQUOTED = new RegExp(`^(?:[^\\s#]|#(?<=\\S#)|${BLANK}+(?=[^\\s#]))*`);

/** The text between the quotes of a value. */
interface ValueRange extends Pick<Replacement, 'start' | 'end'> {
  /** Empty without quotes; undefined for a value of several parts. */
  readonly quote: '"' | "'" | '`' | '' | undefined;
}

/** Returns the names of all variables. */
export const variableNames = (file: string): string[] => [...assignments(file)].map(([name]) => name);

/** Returns the last assigned value. */
function lastValue(file: string, name: string): ValueRange | undefined {
  let last: ValueRange | undefined;
  for (const [each, range] of assignments(file)) if (each === name) last = range;
  return last;
}

/** Yields the assignments of a file. Text inside the quotes of another value isn't an assignment. */
function* assignments(file: string): Generator<[name: string, ValueRange]> {
  const pattern = new RegExp(ASSIGNMENT);
  for (let match = pattern.exec(file); match !== null; match = pattern.exec(file)) {
    const range = rangeOfValue(file, pattern.lastIndex);
    const afterSign = match.index + match[0].trimEnd().length;
    // A comment follows the empty value. The space before the comment stays.
    const isCommented = range.quote === '' && file[range.start] === '#';
    yield [match[1] ?? '', isCommented ? { ...range, start: afterSign, end: afterSign } : range];
    pattern.lastIndex = range.end;
  }
}

function rangeOfValue(file: string, start: number): ValueRange {
  const text = file.slice(start);
  const quoted = QUOTED.exec(text)?.[0];
  const quote = (['"', "'", '`'] as const).find((each) => quoted?.startsWith(each));
  if (quoted !== undefined) return { start: start + 1, end: start + quoted.length - 1, quote };
  const parts = PARTS.exec(text)?.[0];
  if (parts !== undefined) return { start, end: start + parts.length, quote: undefined };
  return { start, end: start + (UNQUOTED.exec(text)?.[0].length ?? 0), quote: '' };
}

/** Matches values that need no quotes, neither in a shell nor for libraries that read such files. */
const BARE = /^[\w./:@%+,=?~-]*$/;

/** Whether `value` can replace `old` between the same quotes. */
function canHold(quote: ValueRange['quote'], old: string, value: string): boolean {
  if (quote === undefined) return false;
  // For some programs, what follows `#` is a comment.
  if (quote === '') return BARE.test(value) && !old.includes('#');
  return quote === '"' ? !/["\\$`]/.test(value) : !value.includes(quote);
}

/** Whether a shell would end the text early, at `&` or `;`, and wouldn't have done so with the old one. */
const endsInShell = (old: string, text: string): boolean => /[&;]/.test(text) && !/[&;]/.test(old);

function quoteValue(value: string): string {
  if (BARE.test(value)) return value;
  if (!value.includes("'")) return `'${value}'`;
  return `"${value.replace(/[\\"$`]/g, '\\$&')}"`;
}
