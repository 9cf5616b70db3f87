/** Writes answers to the connection they are for. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpError } from '../core/httpError.ts';
import { errorReply, requestIdOf, type Reply } from './reply.ts';

/** Milliseconds a client has to send the rest of a body that nobody read, before its connection is closed. */
const REST_LIMIT = 500;

export function sendReply(request: IncomingMessage, response: ServerResponse, { status, json }: Reply): void {
  passOverRest(request, response);
  if (json === undefined) {
    response.writeHead(status).end();
    return;
  }
  const headers = {
    'content-type': 'application/json',
    // Replies hold secrets (a new key, a connection URI), so nothing on the way may keep them.
    'cache-control': 'no-store',
    'content-length': Buffer.byteLength(json),
  };
  response.writeHead(status, headers).end(json);
}

/** @param more headers beside those that every refusal has */
export function sendRefusal(
  request: IncomingMessage,
  response: ServerResponse,
  refusal: HttpError,
  requestId = requestIdOf(request.headers),
  more: Readonly<Record<string, string>> = {},
): void {
  passOverRest(request, response);
  const { status, headers, text } = errorReply(refusal, requestId);
  response.writeHead(status, { ...headers, ...more, 'content-length': Buffer.byteLength(text) }).end(text);
}

/**
 * The next request of a connection comes behind the rest of this one, which is thrown away as it arrives. Closing the
 * connection at once could take the answer away from a client that is still sending.
 */
function passOverRest(request: IncomingMessage, response: ServerResponse): void {
  const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
  if (request.complete || (coding === undefined && (length === undefined || length === '0'))) return;
  response.once('finish', () => {
    if (request.complete) return;
    const timer = setTimeout(() => request.socket.destroySoon(), REST_LIMIT).unref();
    request.once('close', () => clearTimeout(timer)).resume();
  });
}
