/**
 * Requests of the serverless driver at a compute's address: `POST /sql`, and WebSockets that carry the Postgres protocol. Both
 * log in through the same address as any other client. So they wake the compute, count as activity and need a password.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createWebSocketStream, WebSocketServer } from 'ws';
import { limitConcurrency } from '../../../base/limitConcurrency.ts';
import { runSql } from './runSql.ts';
import { MAX_BYTES, SqlError } from './sqlRequest.ts';
import { relayLogin } from './relayLogin.ts';

interface ServerlessOptions {
  /** Of the compute's address on 127.0.0.1. */
  readonly port: number;
  /** Origins of web pages that may send requests. */
  readonly allowedOrigins: readonly string[];
}

/** For a request to arrive. Milliseconds. */
const REQUEST_LIMIT = 60_000;
/** Of HTTP clients and WebSockets. More are disconnected, because a request takes memory before its password is known. */
const MAX_CONNECTIONS = 1000;
/** Sessions of `POST /sql` at once. More requests wait. */
const MAX_SESSIONS = 20;
/** Bodies above this size are read and run a few at a time, so that clients without a password can't fill the memory. Bytes. */
const LARGE_BODY = 64 * 1024;
const MAX_LARGE_BODIES = 10;
/** WebSockets without a login so far. */
const MAX_LOGINS = 50;
/** Of one WebSocket message. */
const MAX_MESSAGE_BYTES = 32 * 1024 * 1024;

/** @returns a function that serves an HTTP client, whose first bytes are still unread */
export function serverlessListener(options: ServerlessOptions): (client: Socket) => void {
  const server = createServer();
  // It is not listening, so that its other limits have no effect.
  server.timeout = REQUEST_LIMIT;
  const withSession = limitConcurrency(MAX_SESSIONS);
  const withLargeBody = limitConcurrency(MAX_LARGE_BODIES);
  server.on('request', (request, response) => {
    const { headers } = request;
    const readAndRun = async (signal: AbortSignal) => {
      const body = await readBody(request);
      return withSession(async () => runSql({ headers, body, port: options.port, signal }));
    };
    // In chunks, a body may have any size.
    const isSmall = Number(headers['content-length']) <= LARGE_BODY;
    const run = async (signal: AbortSignal) =>
      isSmall ? readAndRun(signal) : withLargeBody(async () => readAndRun(signal));
    void answer(request, response, options.allowedOrigins, run).catch(() => request.destroy());
  });
  server.on('upgrade', webSockets(options));
  let open = 0;
  return (client) => {
    if (open === MAX_CONNECTIONS) return void client.destroy();
    open += 1;
    client.once('close', () => (open -= 1));
    server.emit('connection', client);
    client.resume();
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  allowedOrigins: readonly string[],
  run: (signal: AbortSignal) => Promise<string>,
): Promise<void> {
  const send = (status: number, body: string) => {
    const headers = { 'content-type': 'application/json', 'neon-request-id': randomUUID() };
    response.writeHead(status, headers).end(body);
  };
  try {
    const { origin } = request.headers;
    if (isForeign(origin, allowedOrigins)) throw new SqlError(403, foreign(origin));
    if (origin !== undefined) {
      response.setHeader('access-control-allow-origin', origin);
      response.setHeader('vary', 'origin');
    }
    if (request.url?.split('?')[0] !== '/sql') throw new SqlError(404, 'not found');
    if (request.method === 'OPTIONS') return preflight(request, response);
    if (request.method !== 'POST') throw new SqlError(405, 'use POST');
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    // Reading the body has its own limit. Waiting and the statement may take any time.
    request.socket.setTimeout(0);
    send(200, await run(gone.signal));
  } catch (error) {
    const { status, message, details } = error instanceof SqlError ? error : new SqlError(500, String(error));
    // The rest of a large request is not read.
    if (!request.complete) response.setHeader('connection', 'close');
    send(status, JSON.stringify({ message, ...details }));
  }
}

const isForeign = (origin: string | undefined, allowedOrigins: readonly string[]): boolean =>
  origin !== undefined && !allowedOrigins.includes(origin);

const foreign = (origin = ''): string =>
  `pages of ${origin} may not use this database (option --allow-origin of the service)`;

function preflight(request: IncomingMessage, response: ServerResponse): void {
  response.setHeader('access-control-allow-methods', 'POST, OPTIONS');
  const asked = request.headers['access-control-request-headers'];
  response.setHeader('access-control-allow-headers', asked ?? '*').end();
}

/** @throws {SqlError} 413. A request that takes too long is disconnected. */
async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const late = setTimeout(() => request.destroy(), REQUEST_LIMIT);
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > MAX_BYTES) throw new SqlError(413, `the request is larger than ${MAX_BYTES} bytes`);
    }
    return Buffer.concat(chunks).toString();
  } finally {
    clearTimeout(late);
  }
}

function webSockets({ port, allowedOrigins }: ServerlessOptions) {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE_BYTES,
  });
  let logins = 0;
  return (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const refused = isForeign(request.headers.origin, allowedOrigins)
      ? '403 Forbidden'
      : logins >= MAX_LOGINS
        ? '503 Service Unavailable'
        : undefined;
    if (refused !== undefined) return void socket.end(`HTTP/1.1 ${refused}\r\nconnection: close\r\n\r\n`);
    server.handleUpgrade(request, socket, head, (webSocket) => {
      logins += 1;
      webSocket.on('message', (_data, isBinary) => isBinary || webSocket.terminate());
      const late = setTimeout(() => webSocket.terminate(), REQUEST_LIMIT);
      const client = createWebSocketStream(webSocket);
      client.on('error', () => webSocket.terminate());
      relayLogin(client, port)
        .catch(() => webSocket.terminate())
        .finally(() => {
          clearTimeout(late);
          logins -= 1;
        });
    });
  };
}
