/** The client's HTTP over a fetch that answers what a test gives it. */
import assert from 'node:assert/strict';
import type { Fetch } from '../../../../src/api/transport/transport.ts';
import { PUBLIC_BASE_URL } from '../../../../src/api/baseUrl.ts';
import { ApiError } from '../../../../src/api/errors.ts';
import { Http, type HttpOptions } from '../../../../src/api/transport/http.ts';

export const KEY = 'a-key-that-must-stay-secret';

export const httpWith = (fetch: Fetch, options: Partial<HttpOptions> = {}) =>
  new Http({ baseUrl: PUBLIC_BASE_URL, key: KEY, fetch, longestWait: 1, ...options });

/** Answers one after the other; a status without a body, or a given response. */
export const stubFetch = (
  ...given: (number | (() => Response | Promise<Response>))[]
): Fetch & { calls: () => number } => {
  let calls = 0;
  const fetch: Fetch = async () => {
    const next = given[Math.min(calls, given.length - 1)] ?? 200;
    calls += 1;
    return typeof next === 'number' ? new Response(next === 204 ? null : '{}', { status: next }) : next();
  };
  return Object.assign(fetch, { calls: () => calls });
};

export const errorOf = async (promise: Promise<unknown>): Promise<ApiError> => {
  const error: unknown = await promise.then(
    () => undefined,
    (caught: unknown) => caught,
  );
  assert.ok(error instanceof ApiError, String(error));
  return error;
};
