/** The HTTP server itself: on 127.0.0.1 only, with time limits for slow clients and words for broken requests. */
import http, { type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { HttpError } from '../core/httpError.ts';
import { StartFailure, systemReason } from '../core/systemReason.ts';
import { errorReply, requestIdOf } from './reply.ts';
import { RequestQueue } from './requestQueue.ts';

/** Milliseconds a client may take. */
export interface ClientLimits {
  readonly headers: number;
  readonly request: number;
  /** How long an unused connection is kept for the next request. */
  readonly idle: number;
}

export const CLIENT_LIMITS: ClientLimits = { headers: 10_000, request: 30_000, idle: 65_000 };

/** How long answers that are on their way may take when the server is closed. */
const CLOSING_TIME = 2_000;

export interface HttpServer {
  readonly port: number;
  close(): Promise<void>;
}

/** @throws {StartFailure} when the port is taken */
export async function listen(
  listener: RequestListener,
  port: number,
  limits: ClientLimits = CLIENT_LIMITS,
): Promise<HttpServer> {
  const server = http.createServer({
    headersTimeout: limits.headers,
    requestTimeout: limits.request,
    keepAliveTimeout: limits.idle,
    connectionsCheckingInterval: Math.min(limits.headers, 2_000),
    noDelay: true,
    // Node would refuse it without a body; see `requestGuard.ts`.
    requireHostHeader: false,
  });
  const queues = new Map<Duplex, RequestQueue>();
  server.on('connection', (socket) => {
    queues.set(socket, new RequestQueue(socket));
    socket.once('close', () => queues.delete(socket));
  });
  const add: RequestListener = (request, response) =>
    queues.get(request.socket)?.add(listener, request, response);
  // Without the second one Node answers an expectation that it does not know by itself.
  server.on('request', add).on('checkExpectation', add);
  server.on('connect', (_request, socket) => {
    // Node removes its own listeners from the socket first.
    socket.on('error', () => undefined).resume();
    answerBrokenRequest(new Error('CONNECT'), socket, queues.get(socket));
  });
  server.on('clientError', (error, socket) => answerBrokenRequest(error, socket, queues.get(socket)));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', 4096, resolve);
  }).catch((error: unknown) => {
    throw new StartFailure('portInUse', `Cannot listen on 127.0.0.1:${port}: ${portProblem(error)}`);
  });
  // From now on an error is one connection's own (such as too many open files), not the server's end.
  server.on('error', () => undefined);
  return { port: (server.address() as AddressInfo).port, close: () => close(server, queues) };
}

const portProblem = (error: unknown): string => {
  const reason = systemReason(error);
  return reason === 'EADDRINUSE'
    ? 'another program uses this port. Choose one with --port, or 0 for any.'
    : reason;
};

function close(server: Server, queues: ReadonlyMap<Duplex, RequestQueue>): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), CLOSING_TIME);
    server.close(() => {
      clearTimeout(cut);
      resolve();
    });
    server.closeIdleConnections();
    // To Node a connection that never said anything is not idle; clients keep such in stock.
    for (const [socket, queue] of queues) if (queue.isUnused) socket.destroy();
  });
}

const BROKEN: Readonly<Record<string, HttpError>> = {
  HPE_HEADER_OVERFLOW: new HttpError(431, 'HEADERS_TOO_LARGE', 'The headers are too large.'),
  ERR_HTTP_REQUEST_TIMEOUT: new HttpError(408, 'TOO_SLOW', 'The request took too long.'),
};
const NOT_HTTP = new HttpError(400, 'BAD_REQUEST', 'This is not a request the service understands.');

function answerBrokenRequest(
  error: Error & { code?: string },
  socket: Duplex,
  queue: RequestQueue | undefined,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable || queue === undefined) {
    socket.destroy();
    return;
  }
  const refusal = BROKEN[error.code ?? ''] ?? NOT_HTTP;
  queue.end(() => socket.end(rawReply(refusal)));
}

/** For what never became a request with a response to it. */
function rawReply(refusal: HttpError): string {
  const { status, headers, text } = errorReply(refusal, requestIdOf({}));
  const fields = { ...headers, connection: 'close', 'content-length': String(Buffer.byteLength(text)) };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\n${lines.join('')}\r\n${text}`;
}
