/**
 * Requests of the serverless driver at a compute's address: `POST /sql`, and WebSockets that carry the Postgres protocol. Both
 * log in through the same address as any other client. So they wake the compute, count as activity and need a password.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createWebSocketStream, WebSocketServer } from 'ws';
import { limitConcurrency } from '../../../base/limitConcurrency.ts';
import { createServer } from '../../../base/nodeHttp.ts';
import { handleOneAtATime } from '../../core/oneAtATime.ts';
import { EarlyBytes } from './earlyBytes.ts';
import { IncompleteRequests } from './incompleteRequests.ts';
import { readClientLogin, connectAfterLogin } from './relayLogin.ts';
import { asSqlError, answerSqlRequest } from './answerSqlRequest.ts';
import { MAX_SQL_BYTES, readLogin, readSqlRequest, HttpSqlError } from './sqlRequest.ts';

interface ServerlessOptions {
  /** The port of the compute's address on 127.0.0.1. */
  readonly port: number;
  /**
   * The port for `POST /sql`: the same, or one that leads past PgBouncer. Each of these requests has a session of its own anyway,
   * and Postgres's own errors have the codes that clients know, such as 28P01 for a wrong password.
   */
  readonly sqlPort: number;
  /** Origins of web pages that may send requests. */
  readonly allowedOrigins: readonly string[];
}

/**
 * The limit for HTTP clients and WebSockets together. If there are more, the slowest is disconnected, because a request
 * takes memory before its password is known.
 */
const MAX_CONNECTIONS = 1000;
/** The most sessions of `POST /sql` at once. More requests wait. */
const MAX_SESSIONS = 20;
/** The bytes from which on a body is read after the login, so that clients without a password can't fill the memory. */
const LARGE_BODY = 64 * 1024;
/** The most logins of WebSockets at once. More logins wait. */
const MAX_LOGINS = 50;
/** The largest WebSocket message. */
const MAX_MESSAGE_BYTES = 32 * 1024 * 1024;

/** Returns a function that serves an HTTP client, whose first bytes are still unread. */
export function createServerlessListener(options: ServerlessOptions): (client: Socket) => void {
  const server = createServer();
  const incomplete = new IncompleteRequests();
  const withSession = limitConcurrency(MAX_SESSIONS);
  const run = async (request: IncomingMessage, signal: AbortSignal): Promise<string> => {
    const { headers, socket } = request;
    const login = readLogin(headers);
    const read = async () => {
      incomplete.begin(socket);
      const body = await readBody(request);
      incomplete.end(socket);
      return readSqlRequest(headers, body);
    };
    // A body that comes in chunks may have any size.
    const small = Number(headers['content-length']) <= LARGE_BODY ? await read() : undefined;
    // Waiting for a session and the statement may take any time.
    incomplete.end(socket);
    return withSession(async () =>
      answerSqlRequest({ login, read: async () => small ?? read(), port: options.sqlPort, signal }),
    );
  };
  server.on(
    'request',
    handleOneAtATime((request, response) => {
      response.once('close', () => incomplete.begin(request.socket));
      void answerHttpRequest(request, response, options.allowedOrigins, run).catch(() => request.destroy());
    }),
  );
  server.on('upgrade', createUpgradeHandler(options, incomplete));
  let open = 0;
  return (client) => {
    if (open >= MAX_CONNECTIONS && !incomplete.disconnectSlowest()) return void client.destroy();
    open += 1;
    incomplete.begin(client);
    client.once('close', () => {
      open -= 1;
      incomplete.end(client);
    });
    server.emit('connection', client);
    client.resume();
  };
}

async function answerHttpRequest(
  request: IncomingMessage,
  response: ServerResponse,
  allowedOrigins: readonly string[],
  run: (request: IncomingMessage, signal: AbortSignal) => Promise<string>,
): Promise<void> {
  const send = (status: number, body: string) => {
    const headers = { 'content-type': 'application/json', 'neon-request-id': randomUUID() };
    response.writeHead(status, headers).end(body);
  };
  try {
    const { origin } = request.headers;
    if (isForeignOrigin(origin, allowedOrigins)) throw new HttpSqlError(403, foreignOriginMessage(origin));
    if (origin !== undefined) {
      response.setHeader('access-control-allow-origin', origin);
      response.setHeader('vary', 'origin');
    }
    if (request.url?.split('?')[0] !== '/sql') throw new HttpSqlError(404, 'not found');
    if (request.method === 'OPTIONS') return answerPreflight(request, response);
    if (request.method !== 'POST') throw new HttpSqlError(405, 'use POST');
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    send(200, await run(request, gone.signal));
  } catch (error) {
    const { status, message, details } = asSqlError(error);
    // The rest of the request is discarded, so that the client still gets the reply.
    request.resume();
    send(status, JSON.stringify({ message, ...details }));
  }
}

const isForeignOrigin = (origin: string | undefined, allowedOrigins: readonly string[]): boolean =>
  origin !== undefined && !allowedOrigins.includes(origin);

const foreignOriginMessage = (origin = ''): string =>
  `pages of ${origin} may not use this database (option --allow-origin of the service)`;

function answerPreflight(request: IncomingMessage, response: ServerResponse): void {
  response.setHeader('access-control-allow-methods', 'POST, OPTIONS');
  const asked = request.headers['access-control-request-headers'];
  response.setHeader('access-control-allow-headers', asked ?? '*').end();
}

/** @throws {HttpSqlError} 413 */
async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > MAX_SQL_BYTES)
      throw new HttpSqlError(413, `the request is larger than ${MAX_SQL_BYTES} bytes`);
  }
  return Buffer.concat(chunks);
}

function createUpgradeHandler({ port, allowedOrigins }: ServerlessOptions, incomplete: IncompleteRequests) {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE_BYTES,
  });
  const withLogin = limitConcurrency(MAX_LOGINS);
  const early = new EarlyBytes();
  return (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    if (isForeignOrigin(request.headers.origin, allowedOrigins))
      return void socket.end('HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n');
    server.handleUpgrade(request, socket, head, (webSocket) => {
      webSocket.on('message', (_data, isBinary) => isBinary || webSocket.terminate());
      const client = createWebSocketStream(webSocket);
      client.on('error', () => webSocket.terminate());
      const endCount = early.count(socket);
      readClientLogin(client)
        .then(async (login) => {
          incomplete.end(socket);
          await withLogin(async () => connectAfterLogin(client, login, port));
          endCount();
        })
        .catch(() => webSocket.terminate());
    });
  };
}
