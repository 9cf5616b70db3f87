/**
 * A loopback proxy between a client and the service. It forwards and counts requests, and injects faults into those
 * that a test selects. Used by the client's unit tests as well as by the suites inside a real VS Code.
 *
 *     const proxy = await FaultProxy.start({ upstream: service.baseUrl });
 *     proxy.inject('resetMidBody', { method: 'GET', path: /endpoints$/ });
 */
import { once } from 'node:events';
import http, {
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import https from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import type { BaseUrl } from '../../src/api/transport/baseUrl.ts';
import { atEndOfTest } from './atEndOfTest.ts';
import { FAULTS, type Exchange, type FaultName, type UpstreamReply } from './faultProxyFaults.ts';

export type { FaultName } from './faultProxyFaults.ts';

export interface StubRequest {
  readonly method: string;
  /** Below the base address, with the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Replies in place of a service. */
export type StubReply = (request: StubRequest) => {
  readonly status?: number;
  readonly json?: unknown;
};

export interface JsonReply {
  readonly status: number;
  readonly json: unknown;
}

export interface FaultProxyOptions {
  /** The service's base address, or a function that replies in its place. */
  readonly upstream: string | StubReply;
  /** Serves HTTPS with this certificate (PEM). */
  readonly tls?: { readonly key: string; readonly cert: string };
  /** Replies with 404 to every call that the specification does not promise. */
  readonly onlySpecified?: boolean;
  /** Changes every reply with JSON. */
  readonly rewrite?: (reply: JsonReply, call: string) => JsonReply;
}

/** The calls of the specification. */
const SPECIFIED =
  /^((GET|POST) \/api_keys|DELETE \/api_keys\/\d+|GET \/projects|(GET|POST) \/projects\/[^/]+\/endpoints|(PATCH|DELETE) \/projects\/[^/]+\/endpoints\/[^/]+|POST \/projects\/[^/]+\/endpoints\/[^/]+\/restart)$/;

export interface When {
  readonly method?: string;
  /** Matched against the path below the base address, without the query. */
  readonly path?: RegExp;
  /** The number of matching requests to affect. By default, one. */
  readonly times?: number;
}

interface Injection {
  readonly fault: FaultName;
  /** The number of affected requests. */
  readonly hits: number;
}

interface Recorded {
  readonly method: string;
  /** Below the base address, without the query. */
  readonly path: string;
  readonly fault: FaultName | undefined;
}

const NOT_OFFERED: UpstreamReply = {
  status: 404,
  contentType: 'application/json',
  body: '{"code":"","message":"not found"}',
};

const PREFIX = '/api/v2';

class Rule implements Injection {
  hits = 0;
  readonly fault: FaultName;
  readonly #when: When;

  constructor(fault: FaultName, when: When) {
    this.fault = fault;
    this.#when = when;
  }

  applies(method: string, path: string): boolean {
    const { method: chosen = method, path: pattern = /^/, times = 1 } = this.#when;
    const isHit = chosen === method && pattern.test(path) && this.hits < times;
    if (isHit) this.hits += 1;
    return isHit;
  }
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

async function listen(server: Server, port = 0): Promise<void> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
}

export class FaultProxy {
  readonly requests: Recorded[] = [];
  /** The number of requests without a reply so far. */
  pending = 0;
  /** Every key that came with a request. */
  readonly keys = new Set<string>();
  /** Requests that followed a redirect to another origin. There must be none. */
  readonly strayed: { readonly path: string; readonly authorization: string | undefined }[] = [];
  readonly #options: FaultProxyOptions;
  readonly #server: Server;
  readonly #otherOrigin: Server;
  readonly #rules: Rule[] = [];
  readonly #socketsToReset = new WeakSet<Socket>();
  #port = 0;

  private constructor(options: FaultProxyOptions) {
    this.#options = options;
    const onRequest = (request: IncomingMessage, response: ServerResponse) =>
      void this.#handle(request, response).catch(() => request.socket.destroy());
    this.#server = options.tls
      ? https.createServer({ ...options.tls }, onRequest)
      : http.createServer(onRequest);
    this.#otherOrigin = http.createServer((request, response) => {
      this.strayed.push({ path: request.url ?? '', authorization: request.headers.authorization });
      response.end('{}');
    });
  }

  /** It stops with the test at the latest. */
  static async start(options: FaultProxyOptions): Promise<FaultProxy> {
    const proxy = new FaultProxy(options);
    atEndOfTest(() => proxy.stop());
    await Promise.all([listen(proxy.#server), listen(proxy.#otherOrigin)]);
    proxy.#port = portOf(proxy.#server);
    return proxy;
  }

  get baseUrl(): BaseUrl {
    const scheme = this.#options.tls ? 'https' : 'http';
    return `${scheme}://127.0.0.1:${this.#port}${PREFIX}` as BaseUrl;
  }

  /** Injects a fault. If several match a request, the last one wins. */
  inject(fault: FaultName, when: When = {}): Injection {
    const rule = new Rule(fault, when);
    this.#rules.unshift(rule);
    return rule;
  }

  /** Removes all faults. */
  clear(): void {
    this.#rules.length = 0;
  }

  /** Counts the requests so far: all of them, or those with the method and path. */
  count(method?: string, path = /^/): number {
    return this.requests.filter((one) => (method ?? one.method) === one.method && path.test(one.path)).length;
  }

  /** Refuses new connections and closes open ones, like a service that is down. */
  async down(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  /** Listens again at the same address. */
  up(): Promise<void> {
    return listen(this.#server, this.#port);
  }

  stop(): void {
    for (const server of [this.#server, this.#otherOrigin]) {
      server.close();
      server.closeAllConnections();
    }
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const method = request.method ?? 'GET';
    const url = new URL(request.url ?? '/', 'http://any');
    const path = url.pathname.replace(PREFIX, '');
    const fault = this.#rules.find((rule) => rule.applies(method, path))?.fault;
    this.requests.push({ method, path, fault });
    this.pending += 1;
    response.once('close', () => (this.pending -= 1));
    this.keys.add((request.headers.authorization ?? '').replace(/^Bearer /, ''));
    if (this.#socketsToReset.has(request.socket)) return void request.socket.resetAndDestroy();
    const body = await text(request);
    const forward = () => this.#forward(request, path + url.search, body);
    if (fault === undefined) {
      const isOffered = this.#options.onlySpecified !== true || SPECIFIED.test(`${method} ${path}`);
      const reply = isOffered ? await forward() : NOT_OFFERED;
      response.writeHead(reply.status, { 'content-type': reply.contentType });
      response.end(reply.body === '' ? undefined : reply.body);
      return;
    }
    const exchange: Exchange = {
      request,
      response,
      otherOrigin: `http://127.0.0.1:${portOf(this.#otherOrigin)}`,
      forward,
      onClose: (stop) => request.socket.once('close', stop),
      resetOnNextRequest: () => this.#socketsToReset.add(request.socket),
    };
    await FAULTS[fault](exchange);
  }

  async #forward(request: IncomingMessage, path: string, body: string): Promise<UpstreamReply> {
    const { upstream } = this.#options;
    const method = request.method ?? 'GET';
    if (typeof upstream !== 'string') {
      const { status = 200, json } = upstream({ method, path, headers: request.headers, body });
      return {
        status,
        contentType: 'application/json',
        body: json === undefined ? '' : JSON.stringify(json),
      };
    }
    const { authorization = '', accept = '*/*' } = request.headers;
    const type = request.headers['content-type'];
    const reply = await fetch(`${upstream}${path}`, {
      method,
      headers: { authorization, accept, ...(type === undefined ? {} : { 'content-type': type }) },
      redirect: 'manual',
      ...(body === '' ? {} : { body }),
    });
    const contentType = reply.headers.get('content-type') ?? 'application/json';
    const unchanged = { status: reply.status, contentType, body: await reply.text() };
    const { rewrite } = this.#options;
    if (rewrite === undefined || unchanged.body === '') return unchanged;
    const call = `${method} ${new URL(path, 'http://any').pathname}`;
    const { status, json } = rewrite({ status: reply.status, json: JSON.parse(unchanged.body) }, call);
    return { status, contentType, body: JSON.stringify(json) };
  }
}
