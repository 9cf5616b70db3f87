/**
 * The faults that can happen to one request, by name. Each acts on a real connection. Faults whose names end with
 * "After" forward the request first, so that the change is made and only its reply is lost.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';

export interface UpstreamReply {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** One request that a fault is injected into. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** An origin other than the service's. */
  readonly otherOrigin: string;
  /** Forwards the request. The client does not get the reply. */
  readonly forward: () => Promise<UpstreamReply>;
  /** Calls `stop` when the client closes the connection. */
  readonly onClose: (stop: () => void) => void;
  /** Resets the connection when the next request arrives on it. */
  readonly resetOnNextRequest: () => void;
}

type Fault = (exchange: Exchange) => void | Promise<void>;

const JSON_TYPE = { 'content-type': 'application/json' };
const HTML_TYPE = { 'content-type': 'text/html; charset=utf-8' };

const answer =
  (status: number, headers: Readonly<Record<string, string>>, body = ''): Fault =>
  ({ response }) =>
    void response.writeHead(status, headers).end(body);

const errorReply = (status: number, message: string, headers = {}): Fault =>
  answer(status, { ...JSON_TYPE, ...headers }, JSON.stringify({ code: '', message, request_id: 'fault' }));

const page = (title: string) =>
  `<!DOCTYPE html><html><head><title>${title}</title></head><body></body></html>`;

const reset: Fault = ({ request }) => void request.socket.resetAndDestroy();

const after =
  (fault: Fault): Fault =>
  async (exchange) => {
    await exchange.forward();
    await fault(exchange);
  };

const redirect =
  (status: number): Fault =>
  ({ request, response, otherOrigin }) =>
    void response.writeHead(status, { location: `${otherOrigin}${request.url ?? '/'}` }).end();

/** Changes the service's reply. */
const rewrite =
  (change: (body: string) => string): Fault =>
  async ({ forward, response }) => {
    const { status, contentType, body } = await forward();
    response.writeHead(status, { 'content-type': contentType }).end(change(body));
  };

const resetAfterHalf: Fault = async ({ forward, request, response }) => {
  const { status, contentType, body } = await forward();
  response.writeHead(status, { 'content-type': contentType, 'content-length': Buffer.byteLength(body) });
  response.write(body.slice(0, Math.floor(body.length / 2)), () => request.socket.resetAndDestroy());
};

/** Sends the same piece until `bytes` are sent or the client stops reading. */
const flood =
  (piece: string | Buffer, bytes = Number.POSITIVE_INFINITY): Fault =>
  ({ response }) => {
    response.writeHead(200, JSON_TYPE);
    let sent = 0;
    const send = () => {
      while (sent < bytes && !response.destroyed) {
        sent += piece.length;
        if (!response.write(piece)) return;
      }
      response.end();
    };
    response.on('drain', send);
    send();
  };

const drip: Fault = ({ response, onClose }) => {
  response.writeHead(200, JSON_TYPE);
  const timer = setInterval(() => response.write(' '), 20);
  onClose(() => clearInterval(timer));
};

const raw =
  (text: string): Fault =>
  ({ request }) =>
    void request.socket.end(text);

const secondsFromNow = (seconds: number) => new Date(Date.now() + seconds * 1000).toUTCString();

/** Replaces the middle record of the first list in a reply with an invalid one. */
const bomb = () => gzipSync(Buffer.alloc(96 * 1024 * 1024, ' '), { level: 9 });

/** Every fault by name. Faults before HTTP are in `faultProxyAddresses.ts`. */
export const FAULTS = {
  resetBeforeHeaders: reset,
  closedBeforeHeaders: ({ request }) => void request.socket.destroy(),
  resetMidBody: resetAfterHalf,
  truncatedJson: rewrite((body) => body.slice(0, Math.floor(body.length / 2))),
  noAnswer: () => undefined,
  slowDrip: drip,
  captivePortal: answer(200, HTML_TYPE, page('Welcome to the airport')),
  proxyLogin: answer(407, { ...HTML_TYPE, 'proxy-authenticate': 'Basic realm="proxy"' }, page('Proxy')),
  proxyErrorPage: answer(502, HTML_TYPE, page('Bad gateway')),
  forbiddenPage: answer(403, HTML_TYPE, page('Blocked by policy')),
  tooMany: errorReply(429, 'too many requests'),
  tooManyForSeconds: errorReply(429, 'too many requests', { 'retry-after': '1' }),
  tooManyUntilDate: (exchange) =>
    errorReply(429, 'too many requests', { 'retry-after': secondsFromNow(1) })(exchange),
  tooManyForAnHour: errorReply(429, 'too many requests', { 'retry-after': '3600' }),
  locked: errorReply(423, 'project already has running operations'),
  unavailable: errorReply(503, 'service unavailable'),
  unavailablePage: answer(503, HTML_TYPE, page('Service unavailable')),
  unavailablePageAfter: after(answer(503, HTML_TYPE, page('Service unavailable'))),
  unavailableEmptyAfter: after(answer(503, {})),
  unavailableGatewayAfter: after(answer(503, JSON_TYPE, '{"message":"Service Unavailable"}')),
  internalError: errorReply(500, 'internal error'),
  notFound: errorReply(404, 'not found'),
  methodNotAllowed: errorReply(405, 'method not allowed'),
  requestTimeout: errorReply(408, 'request timeout'),
  badGatewayAfter: after(answer(502, HTML_TYPE, page('Bad gateway'))),
  gatewayTimeoutAfter: after(answer(504, HTML_TYPE, page('Gateway timeout'))),
  resetAfter: after(reset),
  noAnswerAfter: after(() => undefined),
  redirect301: redirect(301),
  redirect302: redirect(302),
  redirect307: redirect(307),
  noContent: answer(204, {}),
  emptyBody: answer(200, { ...JSON_TYPE, 'content-length': '0' }),
  wrongShape: answer(200, JSON_TYPE, '{"unexpected":["shape"]}'),
  nullBody: answer(200, JSON_TYPE, 'null'),
  byteOrderMark: rewrite((body) => `\uFEFF${body}`),
  hugeBody: flood(Buffer.alloc(256 * 1024, ' '), 64 * 1024 * 1024),
  endlessBody: flood('[1],'.repeat(16_384)),
  gzipBomb: ({ response }) =>
    void response.writeHead(200, { ...JSON_TYPE, 'content-encoding': 'gzip' }).end(bomb()),
  headerFlood: raw(`HTTP/1.1 200 OK\r\n${'x-flood: 0123456789abcdef\r\n'.repeat(20_000)}\r\n`),
  noHttp: raw('220 mail.example ESMTP\r\n'),
  oddStatus: raw('HTTP/1.1 999 Odd\r\ncontent-length: 2\r\n\r\n{}'),
  echoedKey: ({ request, response }) =>
    errorReply(400, `bad request: ${request.headers.authorization}`)({ request, response } as Exchange),
  keepAliveRace: async (exchange) => {
    exchange.resetOnNextRequest();
    await rewrite((body) => body)(exchange);
  },
} as const satisfies Readonly<Record<string, Fault>>;

export type FaultName = keyof typeof FAULTS;
