/**
 * Where the port goes when a host such as `127.0.0.1:5433` is inserted. Only connection strings have it after the host: libpq
 * and most libraries read it from a separate variable or field, such as PGPORT next to PGHOST.
 */
import {
  isDatabaseField,
  parentLine,
  URI_AUTHORITY,
  variableBefore,
  type CompletionContext,
  type DocumentLines,
} from './completionContext.ts';

/** Where the port of an inserted host goes. */
export type PortPlace =
  /** The port stays with the host. */
  | { readonly kind: 'withHost' }
  /** The port is inserted after the host and the text `between`, which may start a new line. */
  | { readonly kind: 'after'; readonly between: string }
  /** The port replaces an existing one. Columns are UTF-16 units. */
  | { readonly kind: 'instead'; readonly line: number; readonly start: number; readonly end: number };

/** The most lines that are read on each side of the host. */
const MAX_DISTANCE = 20;
const WITH_HOST: PortPlace = { kind: 'withHost' };

/**
 * Finds where the port of a host that is inserted belongs: in an existing field or variable near the host, or in a new one after it.
 * @returns `withHost` if there is no other place, so that the port is not lost
 */
export function portPlace(
  place: Pick<CompletionContext, 'start' | 'end'>,
  line: number,
  document: DocumentLines,
): PortPlace {
  const { text } = document.lineAt(line);
  const lead = text.slice(0, place.start);
  const rest = text.slice(place.end);
  if (URI_AUTHORITY.test(lead)) return WITH_HOST;
  const field = FIELD.exec(lead);
  const parent = parentLine(document, line);
  if (field !== null) {
    if (!isDatabaseField(lead, rest, parent)) return WITH_HOST;
    const [, word = '', syntax = ''] = field;
    const name = portName(word);
    const near = findPort(lead, name, line, 0) ?? findPort(rest, name, line, place.end);
    if (near !== undefined) return near;
    // Otherwise, the field has a line of its own, as in YAML.
    if (lead.slice(0, field.index).trim() !== '' || !LINE_END.test(rest))
      return nextField(name, syntax, rest);
  }
  const name = variableBefore(lead);
  if (name === undefined || portName(name) === name) return WITH_HOST;
  const found = findPortInNearbyLines(portName(name), line, document, field === null ? undefined : parent);
  if (found !== undefined) return found;
  const isInBrackets = field !== null && /[({]\s*$/.test(parent);
  return nextLine(name, lead, rest, isInBrackets) ?? WITH_HOST;
}

/**
 * Finds the closest line that sets the port. If the host is in a comment, only comments are searched, and otherwise none.
 * @param line the line of the host
 * @param parent the `parentLine` that the port's line must have, too; undefined if it may have any
 */
function findPortInNearbyLines(
  name: string,
  line: number,
  document: DocumentLines,
  parent: string | undefined,
): PortPlace | undefined {
  const isHostInComment = isComment(document.lineAt(line).text);
  for (let distance = 0; distance <= MAX_DISTANCE; distance += 1) {
    for (const nearLine of [line + distance, line - distance]) {
      if (nearLine < 0 || nearLine >= document.lineCount) continue;
      const { text } = document.lineAt(nearLine);
      if (parent !== undefined && parentLine(document, nearLine) !== parent) continue;
      const found = isComment(text) === isHostInComment ? findPort(text, name, nearLine, 0) : undefined;
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

/** Returns what to insert as the host, and the port if that belongs in another place. */
export function withPort(host: string, place: PortPlace): { readonly text: string; readonly port?: string } {
  const [, name, port] = /^(.+):(\d+)$/.exec(host) ?? [];
  if (name === undefined || port === undefined || place.kind === 'withHost') return { text: host };
  return place.kind === 'after' ? { text: `${name}${place.between}${port}` } : { text: name, port };
}

const isComment = (text: string): boolean => /^\s*(?:#|\/\/)/.test(text);

/** Finds the value of a port that is set in the text. @param column where the text starts in its line */
function findPort(text: string, name: string, line: number, column: number): PortPlace | undefined {
  const match = new RegExp(String.raw`(?<!\w)${name}["'\`]?[\])]?\s*(?:=>|[:=,\s])\s*["'\`]?(\d+)`, 'i').exec(
    text,
  );
  if (match === null) return undefined;
  const end = column + match.index + match[0].length;
  return { kind: 'instead', line, start: end - (match[1] ?? '').length, end };
}

/** Matches `host=`, `host: '` and the like, in a keyword/value string or a call. */
const FIELD = /(?<![\w.])(host)(["']?\s*[:=]\s*["'`]?)$/i;

/** Writes the port in the syntax of the host: `host=… port=…`, `Host=…;Port=…` or `host: '…', port: '…'`. */
function nextField(name: string, syntax: string, rest: string): PortPlace {
  const quote = /["'`]$/.exec(syntax)?.[0] ?? '';
  const separator = quote !== '' ? `${quote}, ` : rest.startsWith(';') ? ';' : ' ';
  return { kind: 'after', between: `${separator}${name}${syntax}` };
}

/** A line that sets one variable and nothing else. */
const LINE_START =
  /^\s*(?:#\s*)?(?:-\s+|export\s+|ENV\s+|set\s+-\w+\s+|\$env:|process\.env\.|[\w.]+[[(])?["'`]?$/i;
const LINE_END = /^["'`]?[\])]*[;,]?\s*$/;

/** Puts the port on a line of its own, written like the host's. @returns undefined if that line has anything else */
function nextLine(name: string, lead: string, rest: string, isInBrackets: boolean): PortPlace | undefined {
  const before = lead.slice(0, lead.lastIndexOf(name));
  if (!LINE_START.test(before) || !LINE_END.test(rest)) return undefined;
  // The last property of a JSON object, or argument of a call, has no comma.
  const isProperty = isInBrackets || (/^\s*["']/.test(lead) && lead.includes(':'));
  const end = isProperty && !rest.includes(',') ? `${rest.trimEnd()},` : rest.trimEnd();
  return {
    kind: 'after',
    between: `${end}\n${before}${portName(name)}${lead.slice(before.length + name.length)}`,
  };
}

/**
 * Returns the name for the port: `PGPORT` for `PGHOST`, `databasePort` for `databaseHost`; the name unchanged if it has no word for
 * a host.
 */
const portName = (name: string): string =>
  name.replace(/host(?:name)?|server|endpoint/i, (word) => {
    if (word === word.toUpperCase()) return 'PORT';
    return /^[A-Z]/.test(word) ? 'Port' : 'port';
  });
