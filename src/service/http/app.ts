/** The API as a whole: finds the route of a request, lets it answer, and turns every failure into an error reply. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { ControlPlane } from '../controlPlane/controlPlane.ts';
import { EngineError } from '../core/computeEngine.ts';
import { conflict, HttpError } from '../core/httpError.ts';
import { accountRoutes } from './accountRoutes.ts';
import { branchRoutes } from './branchRoutes.ts';
import { catalogRoutes } from './catalogRoutes.ts';
import { computeRoutes } from './computeRoutes.ts';
import { holdLease, type Leases } from './lease.ts';
import { authenticate, findHeaderProblem, parseTarget, type ApiCall, type Route } from './request.ts';
import { sendError, sendReply, type JsonReply } from './response.ts';
import { userRoutes } from './userRoutes.ts';

/** The version segment (section 9). */
const API_PATH = '/api/v2';

export const baseUrlAt = (port: number): string => `http://127.0.0.1:${port}${API_PATH}`;

export interface AppOptions {
  readonly plane: ControlPlane;
  readonly leases: Leases;
  readonly leaseSecret: string;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

export function createListener(options: AppOptions): RequestListener {
  const { plane } = options;
  const entries = [...apiEntries(plane), leaseEntry(options)];
  return (request, response) => {
    const exchange = { request, response };
    const problem = findHeaderProblem(request);
    if (problem !== undefined) {
      // The rest of this connection cannot be trusted.
      sendError(request, response, problem, { connection: 'close' });
      return;
    }
    try {
      const { parts, query } = parseTarget(request.url ?? '');
      const candidates = entries.filter(({ pattern }) => matches(pattern, parts));
      const method = request.method === 'HEAD' ? 'GET' : request.method;
      const entry = candidates.find((each) => each.method === method);
      if (entry === undefined) {
        // Only clients with a key may learn which paths exist.
        if (`/${parts.join('/')}/`.startsWith(`${API_PATH}/`)) authenticate(request, plane.keys);
        throw notAllowed(candidates.map((each) => each.method));
      }
      const param = (name: string) => parts[entry.pattern.indexOf(`:${name}`)] ?? '';
      entry.handle(exchange, { request, param, query });
    } catch (error) {
      void fail(plane, exchange, error);
    }
  };
}

interface RouteEntry {
  readonly method: Route['method'];
  /** The parts of the path; `:name` matches any part except an empty one. */
  readonly pattern: readonly string[];
  /** @throws {HttpError} */
  readonly handle: (exchange: Exchange, call: ApiCall) => void;
}

const matches = (pattern: readonly string[], parts: readonly string[]): boolean =>
  pattern.length === parts.length &&
  pattern.every((part, index) => (part.startsWith(':') ? parts[index] !== '' : part === parts[index]));

/** The first that matches counts: `/projects/shared` is not a project. */
const routesOf = (plane: ControlPlane): Route[] => [
  ...userRoutes(plane),
  ...accountRoutes(plane),
  ...branchRoutes(plane),
  ...computeRoutes(plane),
  ...catalogRoutes(plane),
];

const apiEntries = (plane: ControlPlane): RouteEntry[] =>
  routesOf(plane).map(({ method, path, answer }) => ({
    method,
    pattern: `${API_PATH}${path}`.slice(1).split('/'),
    handle(exchange, call) {
      authenticate(call.request, plane.keys);
      const replyOrPromise = answer(call);
      if (!(replyOrPromise instanceof Promise)) sendWhenDurable(plane, exchange, replyOrPromise);
      else {
        replyOrPromise.then(
          (reply) => sendWhenDurable(plane, exchange, reply),
          (error: unknown) => void fail(plane, exchange, error),
        );
      }
    },
  }));

const leaseEntry = ({ plane, leases, leaseSecret: secret }: AppOptions): RouteEntry => ({
  method: 'GET',
  pattern: ['lease'],
  handle({ request, response }, { query }) {
    const baseUrl = baseUrlAt(request.socket.localPort ?? 0);
    const { keys, postgresProblem } = plane;
    holdLease({ leases, keys, secret, baseUrl, postgresProblem }, request, response, query);
  },
});

/** A reply may show changes that are not yet on disk, so it waits for them. */
function sendWhenDurable(plane: ControlPlane, { request, response }: Exchange, reply: JsonReply): void {
  const send = () => sendReply(request, response, reply);
  const pending = plane.store.whenDurable();
  if (pending === undefined) send();
  else pending.then(send, (error: unknown) => void fail(plane, { request, response }, error));
}

function notAllowed(methods: readonly string[]): HttpError {
  if (methods.length === 0) return new HttpError(404, 'NOT_FOUND', 'There is nothing at this path.');
  const allow = ['GET', 'POST', 'PATCH', 'DELETE'].filter((method) => methods.includes(method)).join(', ');
  return new HttpError(405, 'METHOD_NOT_ALLOWED', `This path supports ${allow}.`, { allow });
}

const UNEXPECTED_ERROR = new HttpError(
  500,
  'INTERNAL_ERROR',
  'Unexpected error in the service. See its log for details.',
);
const NOT_DURABLE = new HttpError(
  500,
  'NOT_DURABLE',
  'The service can no longer write to its disk and is shutting down.',
);

async function fail(plane: ControlPlane, { request, response }: Exchange, error: unknown): Promise<void> {
  try {
    await plane.store.whenDurable();
  } catch {
    // The store has already reported this failure, which ends the service.
    sendError(request, response, NOT_DURABLE);
    return;
  }
  const expected = asHttpError(error);
  const requestId = sendError(request, response, expected ?? UNEXPECTED_ERROR);
  if (expected === undefined) plane.logUnexpected(`request ${requestId} (${request.method})`, error);
}

/** Errors of an engine are for the client to resolve; all others are unexpected. */
function asHttpError(error: unknown): HttpError | undefined {
  if (error instanceof HttpError) return error;
  return error instanceof EngineError ? conflict(error.message) : undefined;
}
