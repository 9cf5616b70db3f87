/** The routes together: who may call, what is answered when, and every error in the service's own form. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { isLeaseProof, LEASE_PROOF_HEADER, leaseProof } from '../../api/leaseProof.ts';
import type { Leases } from './lease.ts';
import { conflict, HttpError } from '../core/httpError.ts';
import { apiKeyRoutes } from './apiKeyRoutes.ts';
import { authenticate } from './authentication.ts';
import { computeRoutes } from './computeRoutes.ts';
import { connectionUriRoute } from './connectionUriRoute.ts';
import { operationRoutes } from './operationRoutes.ts';
import { projectRoutes } from './projectRoutes.ts';
import { requestIdOf, type Reply } from './reply.ts';
import { guard } from './requestGuard.ts';
import { Router } from './router.ts';
import type { Call, ControlPlane, Route } from './routes.ts';
import { sendRefusal, sendReply } from './sendResponse.ts';
import { queryParameter, targetOf, type Target } from './target.ts';

/** The version segment (section 9). */
export const API_PATH = '/api/v2';

export const baseUrlAt = (port: number): string => `http://127.0.0.1:${port}${API_PATH}`;

export interface AppOptions {
  readonly plane: ControlPlane;
  readonly leases: Leases;
  readonly leaseSecret: string;
  /** Takes what should not have happened. */
  readonly onUnexpected: (what: string, error: unknown) => void;
}

/** A request and the response to it. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

export function createListener(options: AppOptions): RequestListener {
  const router = routerOf(options.plane);
  return (request, response) => {
    const exchange = { request, response };
    const refusal = guard(request);
    if (refusal !== undefined) {
      // Nothing that comes over this connection is looked at.
      sendRefusal(request, response, refusal, undefined, { connection: 'close' });
      return;
    }
    try {
      const target = targetOf(request.url ?? '');
      const match = router.match(request.method ?? '', target.parts);
      if (match === undefined) {
        // What is there and what is not is for those with a key.
        if (isOfApi(target)) authenticate(request, options.plane.keys);
        throw missing(router, target);
      }
      if (match.found === 'lease') holdLease(options, exchange, new URLSearchParams(target.query));
      else respond(options, exchange, match.found, callOf(request, match.param, target));
    } catch (error) {
      void refuse(options, exchange, error);
    }
  };
}

type Found = Route | 'lease';

const isOfApi = ({ parts }: Target): boolean => `/${parts.join('/')}/`.startsWith(`${API_PATH}/`);

function routerOf(plane: ControlPlane): Router<Found> {
  const router = new Router<Found>();
  const routes = [apiKeyRoutes, projectRoutes, computeRoutes, operationRoutes].flatMap((of) => of(plane));
  for (const route of [...routes, connectionUriRoute(plane)]) {
    router.add(route.method, `${API_PATH}${route.path}`, route);
  }
  router.add('GET', '/lease', 'lease');
  return router;
}

const callOf = (request: IncomingMessage, param: Call['param'], { query }: Target): Call => ({
  request,
  param,
  query: (name) => queryParameter(query, name),
});

function respond(options: AppOptions, exchange: Exchange, route: Route, call: Call): void {
  authenticate(call.request, options.plane.keys);
  const answer = route.answer(call);
  if (!(answer instanceof Promise)) whenShowable(options, exchange, answer);
  else {
    answer.then(
      (reply) => whenShowable(options, exchange, reply),
      (error: unknown) => void refuse(options, exchange, error),
    );
  }
}

/** An answer goes out when everything it can have seen is on disk. */
function whenShowable(options: AppOptions, { request, response }: Exchange, reply: Reply): void {
  const send = () => sendReply(request, response, reply);
  const pending = options.plane.store.whenDurable();
  if (pending === undefined) send();
  else pending.then(send, (error: unknown) => void refuse(options, { request, response }, error));
}

/** 405 where another method would do, else 404. */
function missing(router: Router<Found>, { parts }: Target): HttpError {
  const methods = router.methods(parts);
  if (methods.length === 0) return new HttpError(404, 'NOT_FOUND', 'There is nothing at this address.');
  const allow = ['GET', 'POST', 'PATCH', 'DELETE'].filter((method) => methods.includes(method)).join(', ');
  return new HttpError(405, 'METHOD_NOT_ALLOWED', `This address takes ${allow}.`, { allow });
}

const ACCIDENT = new HttpError(
  500,
  'INTERNAL_ERROR',
  'Something went wrong in the service; its log tells more.',
);
const NOT_DURABLE = new HttpError(
  500,
  'NOT_DURABLE',
  'The service cannot write to its disk any more, and ends.',
);

async function refuse(options: AppOptions, { request, response }: Exchange, error: unknown): Promise<void> {
  const id = requestIdOf(request.headers);
  try {
    await options.plane.store.whenDurable();
  } catch {
    // Whoever owns the journal knows already and ends the service.
    sendRefusal(request, response, NOT_DURABLE, id);
    return;
  }
  const refusal = asRefusal(error);
  if (refusal === undefined) options.onUnexpected(`request ${id} (${request.method})`, error);
  sendRefusal(request, response, refusal ?? ACCIDENT, id);
}

/** What an engine refuses is the caller's to put right; anything else that was thrown is an accident. */
function asRefusal(error: unknown): HttpError | undefined {
  if (error instanceof HttpError) return error;
  return error instanceof Error && error.name === 'EngineError' ? conflict(error.message) : undefined;
}

/** Silent clients are cut off by time limits of their own, so the open answer says something now and then. */
const LEASE_SIGN_OF_LIFE = 15_000;

/** For those with a key, and for those who prove that they know the lease secret: they get a proof in return. */
function holdLease(options: AppOptions, { request, response }: Exchange, query: URLSearchParams): void {
  const { plane, leases, leaseSecret: secret } = options;
  const baseUrl = baseUrlAt(request.socket.localPort ?? 0);
  const challenge = { secret, nonce: query.get('nonce') ?? '', baseUrl };
  const isProved = isLeaseProof('window', challenge, query.get('proof'));
  if (!isProved) authenticate(request, plane.keys);
  const release = leases.hold(() => response.end());
  response.writeHead(200, {
    'content-type': 'text/plain',
    'cache-control': 'no-store',
    ...(isProved ? { [LEASE_PROOF_HEADER]: leaseProof('service', challenge) } : {}),
  });
  response.write('held\n');
  const timer = setInterval(() => response.write('held\n'), LEASE_SIGN_OF_LIFE);
  response.once('close', () => {
    clearInterval(timer);
    release();
  });
}
