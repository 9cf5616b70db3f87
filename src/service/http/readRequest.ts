/**
 * Reads a request: checks its headers, splits its target, verifies the key and parses the body. Rejects requests of web
 * pages: browsers send the page's origin in `Origin`, and after DNS rebinding a foreign name in `Host`.
 */
import type { IncomingMessage } from 'node:http';
import type * as z from 'zod/mini';
import type { ApiKeys } from '../controlPlane/apiKeys.ts';
import type { ControlPlaneContext } from '../controlPlane/operations/operations.ts';
import { badRequest, formatIssue, HttpError, notFound, unprocessable } from '../core/serviceErrors.ts';
import { parseJsonBytes } from '../core/parseJson.ts';
import type { ProjectState } from '../state/accountState.ts';
import type { JsonReply } from './response.ts';

/** Handlers by method and path, such as `GET /projects/:project_id`. The path is relative to that of the API. */
export type Routes = Readonly<Record<string, RouteHandler>>;

export type RouteHandler = (call: ApiCall) => JsonReply | Promise<JsonReply>;

/** A request for a route, as its handler gets it. */
export interface ApiCall {
  readonly request: IncomingMessage;
  /** Returns a parameter of the route's path. */
  readonly param: (name: string) => string;
  readonly query: URLSearchParams;
}

/** Matches the names of this machine, with or without a port. */
const ALLOWED_HOST = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?$/i;

/** Rejects a request that a web page has sent. @throws {HttpError} 403 */
export function rejectWebPages({ headers: { host = '', origin } }: IncomingMessage): void {
  if (!ALLOWED_HOST.test(host)) {
    const message = 'The Host header must name this machine: 127.0.0.1, localhost or [::1].';
    throw new HttpError(403, 'HOST_NOT_ALLOWED', message);
  }
  if (origin !== undefined)
    throw new HttpError(403, 'ORIGIN_NOT_ALLOWED', 'Web pages may not call this service.');
}

export type RequestTarget = ReturnType<typeof parseTarget>;

/**
 * Splits `/projects/a%2Fb?limit=10` into its decoded parts, `projects` and `a/b`, and the query. Clients may send the whole URL
 * (RFC 9112, section 3.2.2).
 */
export function parseTarget(requestTarget: string) {
  const target = requestTarget.replace(/^http:\/\/[^/?]*/i, '');
  const [path = ''] = target.split('?', 1);
  const parts = path.slice(1).split('/').map(decodePart);
  return { parts, query: new URLSearchParams(target.slice(path.length)) };
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // No resource has such a name, so the reply is 404.
  }
}

const BEARER = /^Bearer +(\S{1,1024})$/i;

/** Checks the key, and records its use. @throws {HttpError} 401, without saying what is wrong with the key */
export function authenticate(request: IncomingMessage, keys: Pick<ApiKeys, 'recordUse'>): void {
  const value = BEARER.exec(request.headers.authorization ?? '')?.[1];
  if (value !== undefined && keys.recordUse(value, request.socket.remoteAddress ?? '')) return;
  throw new HttpError(401, 'UNAUTHORIZED', 'The API key is missing, wrong or revoked.', {
    'www-authenticate': 'Bearer',
  });
}

/** Returns the project that the path names. @throws {HttpError} 404 */
export function findProject({ store }: ControlPlaneContext, call: ApiCall): ProjectState {
  const id = call.param('project_id');
  const project = store.account.projects.get(id);
  if (project === undefined) throw notFound('project with the id', id);
  return project;
}

/** The largest body in bytes. */
const MAX_BODY = 1024 * 1024;

/** @throws {HttpError} if the body is too large, not JSON or does not match the schema */
export async function readJsonBody<T>(request: IncomingMessage, schema: z.ZodMiniType<T>): Promise<T> {
  return validateBody(parseBody(request, await readBytes(request)), schema);
}

/** @throws {HttpError} 415 for another type of content, or for a compressed one */
function parseBody({ headers }: IncomingMessage, bytes: Buffer): unknown {
  const [type = ''] = headers['content-type']?.split(';') ?? [];
  const { 'content-encoding': encoding = 'identity' } = headers;
  if (type.trim().toLowerCase() !== 'application/json' || encoding.toLowerCase() !== 'identity')
    throw new HttpError(415, 'NOT_JSON', 'Send the body with Content-Type: application/json, uncompressed.');
  return parseJsonBytes(bytes).value;
}

/** Reads the body as {@link readJsonBody} does, and a missing body as an empty object. */
export async function readOptionalJsonBody<T>(
  request: IncomingMessage,
  schema: z.ZodMiniType<T>,
): Promise<T> {
  const bytes = await readBytes(request);
  return validateBody(bytes.length === 0 ? {} : parseBody(request, bytes), schema);
}

/** Reads the body. Discards what exceeds the limit, so that the client still gets the reply. */
function readBytes(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= MAX_BODY) chunks.push(chunk);
      else reject(new HttpError(413, 'BODY_TOO_LARGE', `The body is larger than ${MAX_BODY} bytes.`));
    });
    request.once('end', () => resolve(Buffer.concat(chunks)));
    request.once('error', () => reject(badRequest('The body is incomplete.')));
  });
}

/** @throws {HttpError} if the value does not match the schema */
export function validateBody<T>(value: unknown, schema: z.ZodMiniType<T>): T {
  const result = schema.safeParse(value);
  if (result.success && isWellFormed(result.data)) return result.data;
  if (result.success) throw badRequest('The body has half of a surrogate pair, which is no character.');
  const issue = result.error.issues[0];
  if (issue === undefined) throw badRequest('The body is not valid.');
  // A value of the right type that breaks a rule is 422, everything else 400.
  const isRule = issue.code === 'custom' || issue.code === 'too_small' || issue.code === 'too_big';
  throw isRule ? unprocessable(formatIssue(issue)) : badRequest(formatIssue(issue));
}

/**
 * Whether all texts of a value are well-formed. JSON can contain half of a surrogate pair. UTF-8 can't, so files and Postgres would
 * get another character.
 */
const isWellFormed = (value: unknown): boolean =>
  typeof value === 'string'
    ? value.isWellFormed()
    : typeof value !== 'object' || value === null || Object.entries(value).flat().every(isWellFormed);
