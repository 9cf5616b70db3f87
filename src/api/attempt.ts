/**
 * One attempt at a request: the given fetch with time limits on headers and body, a bounded body, and no
 * redirect followed, so that the key reaches its own service and nothing else. The body is read whole here:
 * a connection that breaks in the middle of it is a failed attempt like any other.
 */
import { ApiError } from './errors.ts';

export type Fetch = typeof globalThis.fetch;

/** Milliseconds; `total` covers all attempts of a call and the waits between them. */
export interface TimeLimits {
  readonly headers: number;
  readonly body: number;
  readonly total: number;
}

export const DEFAULT_TIME_LIMITS: TimeLimits = { headers: 15_000, body: 30_000, total: 120_000 };

/** Bytes; a list of 20,000 computes takes about 15 MB. */
export const MAX_BODY_BYTES = 64 * 1024 * 1024;

const within = <T>(
  promise: Promise<T>,
  milliseconds: number,
  phase: 'headers' | 'body',
  abort: AbortController,
) => {
  const timer = setTimeout(() => {
    abort.abort(new ApiError(`No ${phase} within ${milliseconds} ms`, { kind: 'timeout', phase }));
  }, milliseconds);
  return promise.finally(() => clearTimeout(timer));
};

async function readBounded(response: Response, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) {
      const fault = {
        kind: 'unexpectedReply',
        status: response.status,
        reason: 'tooLarge',
        detail: undefined,
      } as const;
      throw new ApiError(`The reply is larger than ${maxBytes} bytes`, fault);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const BODILESS = new Set([101, 204, 205, 304]);

/** Wraps a fetch so that what comes back is a whole reply, read within the limits. */
export function attemptWith(fetch: Fetch, limits: TimeLimits, maxBytes = MAX_BODY_BYTES): Fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const body = request.body === null ? undefined : await request.text();
    const abort = new AbortController();
    const signal = AbortSignal.any([request.signal, abort.signal]);
    try {
      const sent = fetch(request.url, {
        method: request.method,
        headers: request.headers,
        redirect: 'manual',
        signal,
        ...(body === undefined ? {} : { body }),
      });
      const response = await within(sent, limits.headers, 'headers', abort);
      const { status, statusText, headers } = response;
      const bytes = await within(readBounded(response, maxBytes), limits.body, 'body', abort);
      return new Response(BODILESS.has(status) ? null : Buffer.from(bytes), { status, statusText, headers });
    } finally {
      // Frees the socket of a body that was given up half read.
      abort.abort();
    }
  };
}
