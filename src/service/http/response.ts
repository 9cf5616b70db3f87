/** Replies and errors as the client receives them. */
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { HttpError } from '../core/httpError.ts';

export interface Reply {
  readonly status: number;
  /** Undefined for a reply without a body. */
  readonly json: string | undefined;
}

export const reply = (value: unknown, status = 200): Reply => ({ status, json: JSON.stringify(value) });

const texts = new WeakMap<object, string>();

/** Returns the JSON of an immutable record and keeps it. */
export function recordJson(record: object): string {
  let text = texts.get(record);
  if (text === undefined) texts.set(record, (text = JSON.stringify(record)));
  return text;
}

/** A reply `{"name":[…]}` with a list of immutable records, followed by other properties. */
export const listReply = (
  name: string,
  records: readonly object[],
  others: Readonly<Record<string, unknown>> = {},
): Reply => {
  const rest = Object.entries(others).map(([key, value]) => `,"${key}":${JSON.stringify(value)}`);
  return { status: 200, json: `{"${name}":[${records.map(recordJson).join(',')}]${rest.join('')}}` };
};

export const recordReply = (name: string, record: object): Reply => ({
  status: 200,
  json: `{"${name}":${recordJson(record)}}`,
});

const VALID_REQUEST_ID = /^[\w.:-]{1,64}$/;

/** Returns the client's `X-Request-ID` if it is valid, otherwise a new id. */
function requestIdOf(headers: IncomingHttpHeaders): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && VALID_REQUEST_ID.test(given) ? given : randomUUID();
}

export interface ErrorReply {
  readonly requestId: string;
  readonly headers: Readonly<Record<string, string | number>>;
  readonly text: string;
}

export function errorReply(error: HttpError, requestHeaders: IncomingHttpHeaders): ErrorReply {
  const requestId = requestIdOf(requestHeaders);
  const text = JSON.stringify({ request_id: requestId, code: error.code, message: error.message });
  const headers = {
    ...error.headers,
    'content-type': 'application/json',
    'x-request-id': requestId,
    'content-length': Buffer.byteLength(text),
  };
  return { requestId, headers, text };
}

export function sendReply(request: IncomingMessage, response: ServerResponse, { status, json }: Reply): void {
  discardRest(request, response);
  if (json === undefined) {
    response.writeHead(status).end();
    return;
  }
  const headers = {
    'content-type': 'application/json',
    // Replies contain secrets (a new key, a connection URI), so no proxy may store them.
    'cache-control': 'no-store',
    'content-length': Buffer.byteLength(json),
  };
  response.writeHead(status, headers).end(json);
}

/** Returns the request id that the client sees. */
export function sendError(
  request: IncomingMessage,
  response: ServerResponse,
  error: HttpError,
  moreHeaders: Readonly<Record<string, string>> = {},
): string {
  discardRest(request, response);
  const { requestId, headers, text } = errorReply(error, request.headers);
  response.writeHead(error.status, { ...headers, ...moreHeaders }).end(text);
  return requestId;
}

/** Milliseconds a client has to send the rest of an unread body before its connection is closed. */
const REST_LIMIT = 500;

/**
 * Discards the rest of a body that no route read, since the connection's next request follows it. Closing the connection
 * at once could lose the reply for a client that is still sending.
 */
function discardRest(request: IncomingMessage, response: ServerResponse): void {
  const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
  if (request.complete || (coding === undefined && (length === undefined || length === '0'))) return;
  response.once('finish', () => {
    if (request.complete) return;
    const timer = setTimeout(() => request.socket.destroySoon(), REST_LIMIT).unref();
    request.once('close', () => clearTimeout(timer)).resume();
  });
}
