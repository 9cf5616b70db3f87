/** The client's HTTP with a fetch that returns prepared responses. */
import assert from 'node:assert/strict';
import { PUBLIC_BASE_URL } from '../../../helpers/publicBaseUrl.ts';
import { ApiError } from '../../../../src/api/transport/errors.ts';
import { Http, type HttpOptions } from '../../../../src/api/transport/http.ts';
import type { Fetch } from '../../../../src/api/transport/request.ts';

export const KEY = 'a-key-that-must-stay-secret';

export const httpWith = (fetch: Fetch, options: Partial<HttpOptions> = {}) =>
  new Http({ baseUrl: PUBLIC_BASE_URL, key: KEY, fetch, maxDelay: 1, ...options });

/** Returns one response after the other, and the last one again and again. A number is a status with an empty object. */
export const stubFetch = (
  ...responses: (number | (() => Response | Promise<Response>))[]
): Fetch & { calls: () => number } => {
  let calls = 0;
  const fetch: Fetch = async () => {
    const next = responses[Math.min(calls, responses.length - 1)] ?? 200;
    calls += 1;
    return typeof next === 'number' ? new Response(next === 204 ? null : '{}', { status: next }) : next();
  };
  return Object.assign(fetch, { calls: () => calls });
};

/** The ApiError that a promise rejects with. */
export const errorOf = async (promise: Promise<unknown>): Promise<ApiError> => {
  const error: unknown = await promise.then(
    () => undefined,
    (caught: unknown) => caught,
  );
  assert.ok(error instanceof ApiError, String(error));
  return error;
};

/** The number of pending timers that keep the process alive. */
export const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
