/** Makes replies, also those about errors, and sends them. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpError } from '../core/serviceErrors.ts';

/** The status, headers and body of a reply. */
export interface JsonReply {
  readonly status: number;
  /** Text or its UTF-8 bytes; undefined for a reply without a body. */
  readonly json: string | Buffer | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

export const jsonReply = (value: unknown, status = 200): JsonReply => ({
  status,
  json: JSON.stringify(value),
});

/** @param result undefined if the resource had already been deleted */
export const deletionReply = (result: object | undefined): JsonReply =>
  result === undefined ? { status: 204, json: undefined } : jsonReply(result);

export const errorReply = ({ status, code, message, headers }: HttpError, requestId: string): JsonReply => ({
  ...jsonReply({ request_id: requestId, code, message }, status),
  headers: { ...headers, 'x-request-id': requestId },
});

const VALID_REQUEST_ID = /^[\w.:-]{1,64}$/;

/** Returns the client's `X-Request-ID` if it is valid, otherwise a new id. */
export function requestIdOf({ headers }: IncomingMessage): string {
  const sent = headers['x-request-id'];
  return typeof sent === 'string' && VALID_REQUEST_ID.test(sent) ? sent : randomUUID();
}

export function sendReply(response: ServerResponse, { status, json, headers }: JsonReply): void {
  if (json === undefined) {
    response.writeHead(status).end();
    return;
  }
  response.writeHead(status, {
    ...headers,
    'content-type': 'application/json',
    // Replies contain secrets (a new key, a connection URI), so no proxy may store them.
    'cache-control': 'no-store',
    'content-length': Buffer.byteLength(json),
  });
  response.end(json);
}
