/**
 * Finds out whether a database host belongs at the cursor: in a connection string, or as the value of a variable with a name such
 * as `PGHOST`. This uses patterns, which work for every language and file format.
 */

/** A place for a `host`, or for a whole connection string (`uri`). Columns are UTF-16 units, as in an editor. */
export interface CompletionContext {
  readonly kind: 'host' | 'uri';
  /** The text from `start` to the cursor. */
  readonly typed: string;
  readonly start: number;
  /** The end of the host that is being changed, at or after the cursor. */
  readonly end: number;
}

/** The most characters that are read on each side of the cursor, so that typing in a huge line stays fast. */
const MAX_CONTEXT_LENGTH = 1_000;
const MAX_TYPED_LENGTH = 260;

const TYPED = [/[A-Za-z0-9][A-Za-z0-9.-]*:\d{0,5}$/, /(?:[A-Za-z0-9][A-Za-z0-9.-]*)?$/];
const REST = /^[A-Za-z0-9.-]*(?::\d{1,5})?/;

/** @param parent see `parentLine` @returns undefined if no host belongs here */
export function completionContext(line: string, column: number, parent = ''): CompletionContext | undefined {
  const before = line.slice(Math.max(0, column - MAX_CONTEXT_LENGTH), column);
  const after = line.slice(column, column + MAX_CONTEXT_LENGTH);
  for (const pattern of TYPED) {
    const typed = pattern.exec(before.slice(-MAX_TYPED_LENGTH))?.[0];
    if (typed === undefined) continue;
    const kind = valueKindAfter(before.slice(0, before.length - typed.length), after, parent);
    if (kind === undefined) continue;
    const rest = REST.exec(after)?.[0] ?? '';
    return { kind, typed, start: column - typed.length, end: column + rest.length };
  }
  return undefined;
}

function valueKindAfter(lead: string, after: string, parent: string): CompletionContext['kind'] | undefined {
  if (URI_AUTHORITY.test(lead)) return 'host';
  if (HOST_FIELD.test(lead) && isDatabaseField(lead, after, parent)) return 'host';
  const name = variableBefore(lead);
  return name === undefined ? undefined : kindByName(name);
}

/** Returns the name of the variable whose value starts after the text. */
export const variableBefore = (lead: string): string | undefined =>
  VARIABLES.map((pattern) => pattern.exec(lead)?.[1]).find((name) => name !== undefined);

/** Matches `postgresql://`, the login, and any hosts before this one. */
export const URI_AUTHORITY = /\bpostgres(?:ql)?(?:\+\w+)?:\/\/(?:[^\s"'`<>/]*@)?(?:[\w.-]+(?::\d*)?,)*$/i;

/** Whether a field `host` is of a database: by the fields next to it, or by what contains it. @param lead the line until its value */
export function isDatabaseField(lead: string, after: string, parent: string): boolean {
  if (CONNECTION_FIELD.test(lead + after)) return true;
  const before = lead.replace(HOST_FIELD, '');
  return CONNECT_CALL.test(before) || (before.trim() === '' && isDatabaseParent(parent));
}

const isDatabaseParent = (line: string): boolean => DATABASE_KEY.test(line) || CONNECT_CALL.test(line);

/** Returns the closest line above with less indentation: `database:` of YAML, or the beginning of a call. */
export function parentLine(document: DocumentLines, line: number): string {
  const depth = indentation(document.lineAt(line).text);
  for (let above = line - 1; above >= Math.max(0, line - MAX_LINES_ABOVE); above -= 1) {
    const { text } = document.lineAt(above);
    if (text.trim() !== '' && indentation(text) < depth) return text.slice(0, MAX_CONTEXT_LENGTH);
  }
  return '';
}

const MAX_LINES_ABOVE = 50;
const indentation = (text: string): number => text.length - text.trimStart().length;

/** The part of a VS Code document that is used. */
export interface DocumentLines {
  readonly lineCount: number;
  lineAt(line: number): { readonly text: string };
}

/** Matches the beginning of a call such as `psycopg.connect(` or `new Pool({`. */
const CONNECT_CALL = /\b(?:connect|create_?pool|client|pool)\s*\(\s*\{?\s*$/i;
/** Matches a key such as `database:` or `"db": {`. */
const DATABASE_KEY = /^[^#]*\b(?:database|db|pg|postgres(?:ql)?)["'`]?\s*(?:[:=]|=>)\s*[{(]?\s*(?:#.*)?$/i;

/** Matches `host=` in a keyword/value string or a call. */
const HOST_FIELD = /(?<=^|[\s"'`;,({])host["']?\s*[:=]\s*["'`]?$/i;
const CONNECTION_FIELD = /\b(?:dbname|database|user(?:name)?|sslmode)["']?\s*[:=]/i;

const VARIABLES = [
  // Matches what is before a value, as in `PGHOST=`, `PGHOST: "`, `"PGHOST": "`, `env["PGHOST"] = '`, `${PGHOST:-` and
  // `process.env.PGHOST ?? '`.
  /\b([A-Za-z_]\w*)["'`]?[\])]?\s*(?:=>|:-|:=|={1,3}|:|\?\?=?|\|\|=?)\s*["'`]?$/,
  // Matches what is before the second argument of a call, as in `Setenv("PGHOST", "`.
  /\b([A-Za-z_]\w*)["'`]\s*,\s*["'`]$/,
  // Matches what is before a value in the syntax of commands, as in `ENV PGHOST` and `set -x PGHOST`.
  /(?:\bENV|\bset\s+-\w+|\bsetenv)\s+([A-Za-z_]\w*)\s+["'`]?$/,
];

const HOST_WORDS = new Set(['HOST', 'HOSTNAME', 'SERVER', 'ENDPOINT']);
const URI_WORDS = new Set(['URL', 'URI', 'DSN', 'CONNECTION', 'CONN']);
const DATABASE_WORDS = new Set(['PG', 'POSTGRES', 'POSTGRESQL', 'DATABASE', 'DB']);
const OTHER_WORDS =
  /(?:^|_)(?:USER(?:NAME)?|ROLE|PASS(?:WORD|WD)?|PWD|PORT|DB|DATABASE|NAME|SSL(?:MODE)?|OPTIONS|SCHEMA|VERSION|IMAGE)$/;

/** Returns the kind of value by the variable's name: a host for `PGHOST` and `databaseHost`, a URI for `SHADOW_DATABASE_URL`. */
function kindByName(name: string): CompletionContext['kind'] | undefined {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toUpperCase()
    .split('_')
    .filter(Boolean);
  if (words.includes('PGHOST')) return 'host';
  if (!words.some((word) => DATABASE_WORDS.has(word))) return undefined;
  if (words.some((word) => URI_WORDS.has(word))) return 'uri';
  if (words.some((word) => HOST_WORDS.has(word))) return 'host';
  const isOther = OTHER_WORDS.test(words.join('_'));
  // Container images and hosting platforms use such names for hosts.
  return name.startsWith('POSTGRES_') && !isOther ? 'host' : undefined;
}
