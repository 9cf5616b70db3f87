/** The shape of a route; what the routes are is in the files beside this one. */
import type { IncomingMessage } from 'node:http';
import type { ApiKeys } from '../controlPlane/apiKeys.ts';
import type { Clock } from '../core/clock.ts';
import type { ComputeEngine } from '../core/computeEngine.ts';
import type { Computes } from '../controlPlane/computes.ts';
import type { ProjectState } from '../state/account.ts';
import { notFound } from '../core/httpError.ts';
import type { Store } from '../state/store.ts';
import type { Reply } from './reply.ts';
import type { Method } from './router.ts';

/** What the routes answer from. */
export interface ControlPlane {
  readonly store: Store;
  readonly keys: ApiKeys;
  readonly computes: Computes;
  readonly engine: Promise<ComputeEngine>;
  readonly clock: Clock;
}

export interface Call {
  /** A path parameter, by its name in the route's path. */
  readonly param: (name: string) => string;
  /** A query parameter; undefined when it is missing or empty. */
  readonly query: (name: string) => string | undefined;
  readonly request: IncomingMessage;
}

export interface Route {
  readonly method: Method;
  /** Below the version segment; `:name` is a parameter. */
  readonly path: string;
  readonly answer: (call: Call) => Reply | Promise<Reply>;
}

/** The project a call is about. @throws {Refusal} 404 */
export function projectOf({ store }: ControlPlane, call: Call): ProjectState {
  const id = call.param('project_id');
  const project = store.account.projects.get(id);
  if (project === undefined) throw notFound('project with the id', id);
  return project;
}
