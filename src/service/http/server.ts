/** The HTTP server on 127.0.0.1: time limits for slow clients, requests in order, error replies to broken requests. */
import http, { type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { badRequest, HttpError } from '../core/httpError.ts';
import { errorReply } from './response.ts';

/** Milliseconds. */
export interface ClientLimits {
  readonly headers: number;
  readonly request: number;
  /** How long an idle connection is kept. */
  readonly idle: number;
}

const CLIENT_LIMITS: ClientLimits = { headers: 10_000, request: 30_000, idle: 65_000 };

/** Milliseconds that running requests have when the server is closed. */
const CLOSING_TIME = 2_000;

export interface HttpServer {
  readonly port: number;
  close(): Promise<void>;
}

/** @throws the system's error if the port is not available */
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
    // `findHeaderProblem` checks it; Node would reply without a body.
    requireHostHeader: false,
  });
  const queues = new Map<Duplex, RequestQueue>();
  server.on('connection', (socket) => {
    queues.set(socket, new RequestQueue(socket));
    socket.once('close', () => queues.delete(socket));
  });
  const enqueue: RequestListener = (request, response) =>
    queues.get(request.socket)?.add(listener, request, response);
  // Without a listener for `checkExpectation`, Node itself replies to unknown expectations.
  server.on('request', enqueue).on('checkExpectation', enqueue);
  server.on('connect', (_request, socket) => {
    // Node has removed its own listeners from this socket.
    socket.on('error', () => undefined).resume();
    rejectBrokenRequest(new Error('CONNECT'), socket, queues.get(socket));
  });
  server.on('clientError', (error, socket) => rejectBrokenRequest(error, socket, queues.get(socket)));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', 4096, resolve);
  });
  // Later errors concern one connection (too many open files, for example), so the server keeps running.
  server.on('error', () => undefined);
  return { port: (server.address() as AddressInfo).port, close: () => close(server, queues) };
}

function close(server: Server, queues: ReadonlyMap<Duplex, RequestQueue>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => server.closeAllConnections(), CLOSING_TIME);
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
    server.closeIdleConnections();
    // Node does not count a connection without any request as idle; some clients open them in advance.
    for (const [socket, queue] of queues) if (queue.isUnused) socket.destroy();
  });
}

const BROKEN_REQUESTS: Readonly<Record<string, HttpError>> = {
  HPE_HEADER_OVERFLOW: new HttpError(431, 'HEADERS_TOO_LARGE', 'The headers are too large.'),
  ERR_HTTP_REQUEST_TIMEOUT: new HttpError(408, 'TOO_SLOW', 'The request took too long.'),
};
const NOT_HTTP = badRequest('This is not a valid HTTP request.');

function rejectBrokenRequest(
  error: Error & { code?: string },
  socket: Duplex,
  queue: RequestQueue | undefined,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable || queue === undefined) {
    socket.destroy();
    return;
  }
  const reply = BROKEN_REQUESTS[error.code ?? ''] ?? NOT_HTTP;
  queue.end(() => socket.end(rawErrorReply(reply)));
}

/** Broken requests have no `ServerResponse`, so the reply is written as text. */
function rawErrorReply(error: HttpError): string {
  const { headers, text } = errorReply(error, {});
  const lines = Object.entries({ ...headers, connection: 'close' }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return `HTTP/1.1 ${error.status} ${http.STATUS_CODES[error.status]}\r\n${lines.join('')}\r\n${text}`;
}

/**
 * Handles the requests of one connection in order and one at a time, so that each sees the effects of those before it.
 * While requests wait, the connection is not read: a client that never reads its replies costs one reply and the requests
 * of one read.
 */
class RequestQueue {
  readonly #socket: Socket;
  readonly #waiting: (() => void)[] = [];
  #newest: ServerResponse | undefined;
  #isBusy = false;
  #isEnding = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('drain', this.#pauseWhileWaiting);
  }

  /** Whether the client has sent nothing yet. */
  get isUnused(): boolean {
    return this.#socket.bytesRead === 0;
  }

  add(listener: RequestListener, ...[request, response]: Parameters<RequestListener>): void {
    this.#newest = response;
    response.once('close', this.#next);
    this.#enqueue(() => listener(request, response));
  }

  /**
   * Ends the connection after a broken or too slow request.
   * @param reply writes the error and ends the socket; called when all earlier requests have their replies
   */
  end(reply: () => void): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    if (this.#newest?.req.complete !== false) this.#enqueue(reply);
    // The body of the newest request is incomplete, so that request is the broken one.
    else if (this.#waiting.length > 0) this.#waiting.splice(-1, 1, reply);
    else if (this.#newest.headersSent) this.#socket.destroy();
    else reply();
  }

  #enqueue(task: () => void): void {
    if (this.#isBusy) {
      this.#waiting.push(task);
      this.#pauseWhileWaiting();
      return;
    }
    this.#isBusy = true;
    task();
  }

  readonly #next = (): void => {
    if (this.#waiting.length === 0) this.#isBusy = false;
    // Lets requests of other connections in between.
    else setImmediate(this.#runNext);
  };

  readonly #runNext = (): void => {
    const task = this.#waiting.shift();
    if (!this.#socket.writable) this.#waiting.length = 0;
    if (this.#waiting.length === 0) this.#socket.resume();
    if (this.#socket.writable) task?.();
  };

  /** Node resumes the socket after each message and drain in `process.nextTick`; a microtask runs after that. */
  readonly #pauseWhileWaiting = (): void => {
    queueMicrotask(() => {
      if (this.#waiting.length > 0) this.#socket.pause();
    });
  };
}
