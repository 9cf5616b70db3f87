/** What a request asks for: its target (RFC 9112, section 3.2) taken apart. */
import { HttpError } from '../core/httpError.ts';

export interface Target {
  /** The path between its slashes, each part unescaped. `/projects/a%2Fb` has `projects` and `a/b`. */
  readonly parts: readonly string[];
  /** What follows the question mark, as it came. */
  readonly query: string;
}

/** What clients send: nothing escaped, no dots that could mean another folder. Needs no URL made of it. */
const PLAIN = /^\/[\w/~-]*(?:\?|$)/;

/** @throws {HttpError} 400 */
export function targetOf(text: string): Target {
  if (!PLAIN.test(text)) return unusual(text);
  const end = text.indexOf('?');
  const path = end === -1 ? text : text.slice(0, end);
  return { parts: path.slice(1).split('/'), query: end === -1 ? '' : text.slice(end + 1) };
}

function unusual(text: string): Target {
  const url = URL.parse(text.startsWith('/') ? `http://localhost${text}` : text);
  // What is no path would be taken for one: URL makes slashes of backslashes.
  const path = text.split('?', 1)[0] ?? '';
  if (url === null || !/^https?:$/.test(url.protocol) || path.includes('\\')) throw notUnderstood();
  return { parts: url.pathname.slice(1).split('/').map(unescaped), query: url.search.slice(1) };
}

function unescaped(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // Nothing has such a name, so it is not found under it.
  }
}

/** @returns undefined when it is missing or empty. @throws {HttpError} 400 when it is given twice */
export function queryParameter(query: string, name: string): string | undefined {
  if (query === '') return undefined;
  const values = new URLSearchParams(query).getAll(name);
  if (values.length > 1) throw new HttpError(400, 'BAD_REQUEST', `${name} must be given once.`);
  return values[0] || undefined;
}

const notUnderstood = (): HttpError =>
  new HttpError(400, 'BAD_REQUEST', 'The request line is not understood.');
