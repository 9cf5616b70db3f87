/**
 * Reads a request: checks its headers, splits its target, verifies the key and parses the body. Every request must have
 * one meaning only, and web pages must not reach the service: neither under a foreign name that resolves to 127.0.0.1
 * (DNS rebinding shows in `Host`) nor from their own origin (the browser sends it in `Origin`).
 */
import type { IncomingMessage } from 'node:http';
import type * as z from 'zod/mini';
import type { ApiKeys } from '../controlPlane/apiKeys.ts';
import { formatIssue } from '../core/formatIssue.ts';
import { badRequest, HttpError, notFound, unprocessable } from '../core/httpError.ts';
import type { AccountState, ProjectState } from '../state/store.ts';
import type { JsonReply } from './response.ts';

export interface Route {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Relative to the API path; `:name` stands for a parameter. */
  readonly path: string;
  readonly answer: (call: ApiCall) => JsonReply | Promise<JsonReply>;
}

export interface ApiCall {
  readonly request: IncomingMessage;
  /** Returns a parameter of the route's path. */
  readonly param: (name: string) => string;
  /** The query string without its question mark. */
  readonly query: string;
}

/** Accepts the names of this machine only. */
const ALLOWED_HOST = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?$/i;

/** Headers that the service uses and of which Node keeps only the first. */
const SINGLE_HEADERS: ReadonlySet<string> = new Set(['host', 'authorization', 'content-type']);

/** Returns undefined for acceptable headers. */
export function findHeaderProblem(request: IncomingMessage): HttpError | undefined {
  const { headers, rawHeaders, httpVersion } = request;
  const repeated = repeatedHeader(rawHeaders);
  if (repeated !== undefined) return badRequest(`Send the header ${repeated} only once.`);
  if (headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue')
    return new HttpError(417, 'EXPECTATION_FAILED', 'The only supported expectation is 100-continue.');
  if (headers.host === undefined && httpVersion === '1.1') return badRequest('The Host header is missing.');
  if (!ALLOWED_HOST.test(headers.host ?? '')) {
    const message = 'The Host header must name this machine: 127.0.0.1, localhost or [::1].';
    return new HttpError(403, 'HOST_NOT_ALLOWED', message);
  }
  return headers.origin === undefined
    ? undefined
    : new HttpError(403, 'ORIGIN_NOT_ALLOWED', 'Web pages may not call this service.');
}

/** @param raw names and values, alternately */
function repeatedHeader(raw: readonly string[]): string | undefined {
  const seen = new Set<string>();
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index]?.toLowerCase() ?? '';
    if (!SINGLE_HEADERS.has(name)) continue;
    if (seen.has(name)) return name;
    seen.add(name);
  }
  return undefined;
}

/** The target of a request (RFC 9112, section 3.2). */
export interface RequestTarget {
  /** The decoded parts of the path: `/projects/a%2Fb` has `projects` and `a/b`. */
  readonly parts: readonly string[];
  readonly query: string;
}

/** Matches what clients send: no escapes and no dots, so there is nothing to decode or resolve. */
const PLAIN_TARGET = /^\/[\w/~-]*(?:\?|$)/;

/** @throws {HttpError} 400 */
export function parseTarget(text: string): RequestTarget {
  if (PLAIN_TARGET.test(text)) {
    const [path = '', ...query] = text.split('?');
    return { parts: path.slice(1).split('/'), query: query.join('?') };
  }
  const url = URL.parse(text.startsWith('/') ? `http://localhost${text}` : text);
  // URL turns backslashes into slashes, so they would hide another path.
  const hasBackslash = text.split('?', 1)[0]?.includes('\\') === true;
  if (url === null || !/^https?:$/.test(url.protocol) || hasBackslash)
    throw badRequest('The request line is not valid.');
  return { parts: url.pathname.slice(1).split('/').map(decodePart), query: url.search.slice(1) };
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // No resource has such a name, so the reply is 404.
  }
}

const BEARER = /^Bearer +(\S{1,1024})$/i;

/** Section 5. @throws {HttpError} 401, without saying what is wrong with the key */
export function authenticate(request: IncomingMessage, keys: ApiKeys): void {
  const value = BEARER.exec(request.headers.authorization ?? '')?.[1];
  if (value !== undefined && keys.isValid(value, request.socket.remoteAddress ?? '')) return;
  throw new HttpError(401, 'UNAUTHORIZED', 'The API key is missing, wrong or revoked.', {
    'www-authenticate': 'Bearer',
  });
}

/** Returns the project that the path names. @throws {HttpError} 404 */
export function findProject(account: AccountState, call: ApiCall): ProjectState {
  const id = call.param('project_id');
  const project = account.projects.get(id);
  if (project === undefined) throw notFound('project with the id', id);
  return project;
}

/** Bytes. */
const MAX_BODY = 1024 * 1024;

const bodyTooLarge = (): HttpError =>
  new HttpError(413, 'BODY_TOO_LARGE', `The body is larger than ${MAX_BODY} bytes.`);

/** @throws {HttpError} if the body is too large, not JSON or does not match the schema */
export async function readJsonBody<T>(request: IncomingMessage, schema: z.ZodMiniType<T>): Promise<T> {
  const { 'content-type': type, 'content-encoding': encoding = 'identity' } = request.headers;
  if (encoding !== 'identity' || type?.split(';')[0]?.trim().toLowerCase() !== 'application/json') {
    const message = 'Send the body uncompressed, with Content-Type: application/json.';
    throw new HttpError(415, 'NOT_JSON', message);
  }
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY) throw bodyTooLarge();
  return validate(parseBody(await readBytes(request)), schema);
}

/** Like {@link readJsonBody}; a missing body is an empty object. */
export async function readOptionalJsonBody<T>(
  request: IncomingMessage,
  schema: z.ZodMiniType<T>,
): Promise<T> {
  const { 'content-length': length = '0', 'transfer-encoding': coding } = request.headers;
  return coding === undefined && length === '0' ? validate({}, schema) : readJsonBody(request, schema);
}

/** Discards what exceeds the limit, so that the client still gets the reply. */
function readBytes(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= MAX_BODY) chunks.push(chunk);
      else reject(bodyTooLarge());
    });
    request.once('end', () => resolve(Buffer.concat(chunks)));
    request.once('error', () => reject(badRequest('The body is incomplete.')));
  });
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function parseBody(bytes: Buffer): unknown {
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch {
    // The parser's message would repeat the body, which may contain secrets.
    throw badRequest('The body is not valid JSON.');
  }
}

function validate<T>(value: unknown, schema: z.ZodMiniType<T>): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  if (issue === undefined) throw badRequest('The body is not valid.');
  // A value of the right type that breaks a rule is 422, everything else 400.
  const isRule = issue.code === 'custom' || issue.code === 'too_small' || issue.code === 'too_big';
  throw isRule ? unprocessable(formatIssue(issue)) : badRequest(formatIssue(issue));
}
