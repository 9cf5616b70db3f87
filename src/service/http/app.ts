/** The routes on Hono: who may call, what is answered when, and every error in the service's own form. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { Hono, type Context } from 'hono';
import type { Leases } from './lease.ts';
import { conflict, Refusal } from '../controlPlane/refusal.ts';
import { apiKeyRoutes } from './apiKeyRoutes.ts';
import { authenticate } from './authentication.ts';
import { computeRoutes } from './computeRoutes.ts';
import { connectionUriRoute } from './connectionUriRoute.ts';
import { operationRoutes } from './operationRoutes.ts';
import { projectRoutes } from './projectRoutes.ts';
import { errorReply, requestIdOf, type Reply } from './reply.ts';
import { guard } from './requestGuard.ts';
import type { Call, ControlPlane, Route } from './routes.ts';

type Env = { Bindings: HttpBindings };

/** The version segment (section 9). */
export const API_PATH = '/api/v2';

export interface AppOptions {
  readonly plane: ControlPlane;
  readonly leases: Leases;
  /** Takes what should not have happened. */
  readonly onUnexpected: (what: string, error: unknown) => void;
}

export function createListener(options: AppOptions): RequestListener {
  const { plane } = options;
  const app = new Hono<Env>();
  const routes = [apiKeyRoutes, projectRoutes, computeRoutes, operationRoutes].flatMap((of) => of(plane));
  for (const route of [...routes, connectionUriRoute(plane)]) {
    app.on(route.method, `${API_PATH}${route.path}`, (c) => respond(plane, route, c));
  }
  app.get('/lease', (c) => holdLease(options, c.env));
  app.notFound((c) => {
    throw missing(app, c);
  });
  app.onError((error, c) => refuse(options, error, c.env.incoming));
  const listener = getRequestListener(app.fetch, {
    errorHandler: () => errorResponse(new Refusal(400, 'BAD_REQUEST', 'The request line is not understood.')),
  });
  return (request, response) => {
    const refusal = guard(request.headers);
    if (refusal === undefined) void listener(request, response);
    else sendError(request, response, refusal);
  };
}

function respond(plane: ControlPlane, route: Route, c: Context<Env>): Response | Promise<Response> {
  authenticate(c.env.incoming, plane.keys);
  const answer = route.answer(callOf(c));
  return answer instanceof Promise
    ? answer.then((reply) => whenShowable(plane, reply))
    : whenShowable(plane, answer);
}

const callOf = (c: Context<Env>): Call => ({
  param: (name) => c.req.param(name) ?? '',
  query: (name) => c.req.query(name) || undefined,
  request: c.env.incoming,
});

/** An answer goes out when everything it can have seen is on disk. */
function whenShowable({ store }: ControlPlane, reply: Reply): Response | Promise<Response> {
  const pending = store.whenDurable();
  return pending === undefined ? responseOf(reply) : pending.then(() => responseOf(reply));
}

/** Replies hold secrets (a new key, a connection URI), so nothing on the way may keep them. */
const HEADERS = { 'content-type': 'application/json', 'cache-control': 'no-store' };

const responseOf = ({ status, json }: Reply): Response =>
  json === undefined ? new Response(null, { status }) : new Response(json, { status, headers: HEADERS });

/** 405 where another method would do, else 404. */
function missing(app: Hono<Env>, c: Context<Env>): Refusal {
  const allowed = ['GET', 'POST', 'PATCH', 'DELETE'].filter(
    (method) => app.router.match(method, c.req.path)[0].length > 0,
  );
  if (allowed.length === 0) return new Refusal(404, 'NOT_FOUND', 'There is nothing at this address.');
  const allow = allowed.join(', ');
  return new Refusal(405, 'METHOD_NOT_ALLOWED', `This address takes ${allow}.`, { allow });
}

const ACCIDENT = new Refusal(
  500,
  'INTERNAL_ERROR',
  'Something went wrong in the service; its log tells more.',
);
const NOT_DURABLE = new Refusal(
  500,
  'NOT_DURABLE',
  'The service cannot write to its disk any more, and ends.',
);

async function refuse(options: AppOptions, error: unknown, request: IncomingMessage): Promise<Response> {
  const id = requestIdOf(request.headers);
  try {
    await options.plane.store.whenDurable();
  } catch {
    // Whoever owns the journal knows already and ends the service.
    return errorResponse(NOT_DURABLE, id);
  }
  const refusal = asRefusal(error);
  if (refusal === undefined) options.onUnexpected(`request ${id} (${request.method})`, error);
  return errorResponse(refusal ?? ACCIDENT, id);
}

/** What an engine refuses is the caller's to put right; anything else that was thrown is an accident. */
function asRefusal(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error;
  return error instanceof Error && error.name === 'EngineError' ? conflict(error.message) : undefined;
}

function errorResponse(refusal: Refusal, requestId = requestIdOf({})): Response {
  const { status, headers, text } = errorReply(refusal, requestId);
  return new Response(text, { status, headers });
}

function sendError(request: IncomingMessage, response: ServerResponse, refusal: Refusal): void {
  const { status, headers, text } = errorReply(refusal, requestIdOf(request.headers));
  // What is left of the request is not read, so the connection is of no more use.
  response
    .writeHead(status, { ...headers, 'content-length': Buffer.byteLength(text), connection: 'close' })
    .end(text);
}

/** Silent clients are cut off by time limits of their own, so the open answer says something now and then. */
const LEASE_SIGN_OF_LIFE = 15_000;

function holdLease({ plane, leases }: AppOptions, { incoming, outgoing }: HttpBindings): Response {
  authenticate(incoming, plane.keys);
  const release = leases.hold(() => outgoing.end());
  outgoing.writeHead(200, { 'content-type': 'text/plain', 'cache-control': 'no-store' });
  outgoing.write('held\n');
  const timer = setInterval(() => outgoing.write('held\n'), LEASE_SIGN_OF_LIFE);
  outgoing.once('close', () => {
    clearInterval(timer);
    release();
  });
  return RESPONSE_ALREADY_SENT;
}
