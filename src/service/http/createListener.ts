/** Answers the requests of the API: finds the route, calls its handler, and turns every failure into an error reply. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { ControlPlane } from '../controlPlane/controlPlane.ts';
import { EngineError } from '../core/computeEngine.ts';
import { systemReason } from '../../base/systemReason.ts';
import { conflict, HttpError } from '../core/serviceErrors.ts';
import { accountRoutes } from './accountRoutes.ts';
import { branchRoutes } from './branchRoutes.ts';
import { catalogRoutes } from './catalogRoutes.ts';
import { computeRoutes } from './computeRoutes.ts';
import { snapshotRoutes } from './snapshotRoutes.ts';
import { endForProof, holdLease, type Leases } from './leases.ts';
import {
  authenticate,
  parseTarget,
  rejectWebPages,
  type RouteHandler,
  type RequestTarget,
  type Routes,
} from './readRequest.ts';
import { errorReply, requestIdOf, sendReply, type JsonReply } from './response.ts';
import { API_PATH } from './server.ts';

/** @param onLostChange called if a change can't be stored. No reply may show such a change, so the service can't continue. */
export function createListener(
  plane: ControlPlane,
  leases: Leases,
  onLostChange: (error: unknown) => void,
): RequestListener {
  const routes = routesOf(plane);
  return (request, response) => {
    const answered = answerRequest(plane, leases, routes, request, response);
    void answered
      .catch((error: unknown) => failureReply(plane, request, error))
      .then(async (reply) => {
        if (reply === undefined) return;
        try {
          // The reply may show changes that are not yet on disk.
          await plane.store.whenDurable();
          sendReply(response, reply);
        } catch (error) {
          sendReply(response, errorReply(notDurable(error), requestIdOf(request)));
          if (mayHaveChanged(request, reply)) onLostChange(error);
        }
      });
  };
}

const mayHaveChanged = ({ method }: IncomingMessage, { status }: JsonReply): boolean =>
  method !== 'GET' && method !== 'HEAD' && (status < 400 || status >= 500);

/** Returns the reply; undefined for a lease, which writes its reply itself. @throws {HttpError} */
async function answerRequest(
  plane: ControlPlane,
  leases: Leases,
  routes: readonly Route[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<JsonReply | undefined> {
  rejectWebPages(request);
  const target = parseTarget(request.url ?? '');
  const isLease = target.parts.join('/') === 'lease';
  if (isLease && request.method === 'DELETE') return endForProof(leases, target.query, request);
  if (isLease && request.method === 'GET') {
    holdLease(leases, plane, target.query, request, response);
    return undefined;
  }
  authenticate(request, {
    recordUse: (key, from) => leases.hasKey(key) || plane.keys.recordUse(key, from),
  });
  const { route, param } = findRoute(routes, request.method, target);
  return route.handle({ request, param, query: target.query });
}

/**
 * Returns the reply to a request that failed. Clients can resolve an `HttpError` and an `EngineError`. Every other error is
 * unexpected, and logged.
 */
function failureReply(plane: ControlPlane, request: IncomingMessage, error: unknown): JsonReply {
  const requestId = requestIdOf(request);
  if (error instanceof HttpError) return errorReply(error, requestId);
  if (error instanceof EngineError) return errorReply(conflict(error.message), requestId);
  plane.logUnexpected(`request ${requestId} (${request.method})`, error);
  return errorReply(UNEXPECTED_ERROR, requestId);
}

interface Route {
  readonly method: string;
  /** The parts of the path; `:name` matches any part except an empty one. */
  readonly pattern: readonly string[];
  readonly handle: RouteHandler;
}

/** Returns all routes. The first one that matches a request is used. */
function routesOf(plane: ControlPlane): readonly Route[] {
  const routes: Routes = {
    ...accountRoutes(plane),
    ...branchRoutes(plane),
    ...snapshotRoutes(plane),
    ...computeRoutes(plane),
    ...catalogRoutes(plane),
  };
  return Object.entries(routes).map(([name, handle]) => {
    const [method = '', path = ''] = name.split(' ');
    return { method, pattern: `${API_PATH}${path}`.slice(1).split('/'), handle };
  });
}

/** @throws {HttpError} 404 for an unknown path, 405 for an unsupported method */
function findRoute(routes: readonly Route[], requestMethod = 'GET', { parts }: RequestTarget) {
  const candidates = routes.filter(({ pattern }) => matchesPattern(pattern, parts));
  const method = requestMethod === 'HEAD' ? 'GET' : requestMethod;
  const route = candidates.find((candidate) => candidate.method === method);
  if (route === undefined) throw notAllowed(candidates.map((candidate) => candidate.method));
  const param = (name: string) => parts[route.pattern.indexOf(`:${name}`)] ?? '';
  return { route, param };
}

const matchesPattern = (pattern: readonly string[], parts: readonly string[]): boolean =>
  pattern.length === parts.length &&
  pattern.every((part, index) => (part.startsWith(':') ? parts[index] !== '' : part === parts[index]));

function notAllowed(methods: readonly string[]): HttpError {
  if (methods.length === 0) return new HttpError(404, 'NOT_FOUND', NOTHING_HERE);
  const allow = ['GET', 'POST', 'PATCH', 'DELETE'].filter((method) => methods.includes(method)).join(', ');
  return new HttpError(405, 'METHOD_NOT_ALLOWED', `This path supports ${allow}.`, { allow });
}

/**
 * The message for paths without a route. Neon's command line searches it for "not available", and then works without buckets,
 * functions and credentials.
 */
const NOTHING_HERE = 'There is nothing at this path: it is not available in the local service.';
const UNEXPECTED_ERROR = new HttpError(
  500,
  'INTERNAL_ERROR',
  'Unexpected error in the service. See its log for details.',
);
const notDurable = (error: unknown): HttpError => new HttpError(500, 'NOT_DURABLE', systemReason(error));
