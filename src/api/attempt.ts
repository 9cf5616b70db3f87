/**
 * One attempt at a request: the given fetch with time limits on headers and body, a bounded body, and no
 * redirect followed, so that the key reaches its own service and nothing else. The body is read whole here:
 * a connection that breaks in the middle of it is a failed attempt like any other.
 */
import { ApiError, faultOf } from './errors.ts';
import { networkFailure } from './networkFailure.ts';

export type Fetch = typeof globalThis.fetch;

/** Milliseconds; `total` covers all attempts of a call and the waits between them. */
export interface TimeLimits {
  readonly headers: number;
  readonly body: number;
  readonly total: number;
}

export const DEFAULT_TIME_LIMITS: TimeLimits = { headers: 15_000, body: 30_000, total: 120_000 };

/** Bytes after decompression; a list of 20,000 computes takes about 15 MB. */
export const MAX_BODY_BYTES = 32 * 1024 * 1024;

export interface Attempt {
  readonly request: Request;
  readonly fetch: Fetch;
  readonly limits: TimeLimits;
  /** Ends the attempt; its reason is the {@link ApiError} to throw. */
  readonly signal: AbortSignal;
  readonly maxBytes?: number | undefined;
}

const tooLarge = (status: number, maxBytes: number): ApiError =>
  new ApiError(`the reply is larger than ${maxBytes} bytes`, {
    kind: 'unexpectedReply',
    status,
    reason: 'tooLarge',
    detail: undefined,
  });

async function readBounded(response: Response, maxBytes: number): Promise<Buffer<ArrayBuffer>> {
  const { status } = response;
  if (Number(response.headers.get('content-length')) > maxBytes) throw tooLarge(status, maxBytes);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw tooLarge(status, maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const BODILESS = new Set([204, 205, 304]);

/** A reply as ky wants it. The reason phrase is left out: anyone on the way may have written it. */
function wholeReply({ status, headers }: Response, body: Buffer<ArrayBuffer>): Response {
  if (status >= 200 && status <= 599)
    return new Response(BODILESS.has(status) ? null : body, { status, headers });
  const odd = {
    kind: 'refused',
    status,
    code: undefined,
    requestId: undefined,
    retryAfter: undefined,
  } as const;
  throw new ApiError(`status ${status}`, odd, { arrived: true });
}

/** Made once: the error that an abort without a reason makes would cost every request its stack trace. */
const ENDED = new ApiError('the attempt has ended', { kind: 'cancelled' });

/**
 * The promise, or a rejection when time is up or the caller gives up. It does not rely on the fetch to notice:
 * one that looks up a proxy first may not listen to its signal yet.
 */
class GivingUp {
  readonly #abort = new AbortController();
  readonly #gaveUp = Promise.withResolvers<never>();
  readonly #caller: AbortSignal;
  readonly #onCallerAbort = () => this.#giveUp(this.#caller.reason);

  constructor(caller: AbortSignal) {
    this.#caller = caller;
    this.#gaveUp.promise.catch(() => undefined);
    caller.addEventListener('abort', this.#onCallerAbort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  async within<T>(promise: Promise<T>, milliseconds: number, phase: 'headers' | 'body'): Promise<T> {
    const timer = setTimeout(() => {
      this.#giveUp(new ApiError(`no ${phase} within ${milliseconds} ms`, { kind: 'timeout', phase }));
    }, milliseconds);
    try {
      return await Promise.race([promise, this.#gaveUp.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** A reply that comes too late must not keep its connection. */
  async drop(reply: Response): Promise<void> {
    if (this.signal.aborted) await reply.body?.cancel();
  }

  /** Leaves no listener behind and frees the socket of a body that was given up half read. */
  end(): void {
    this.#caller.removeEventListener('abort', this.#onCallerAbort);
    this.#abort.abort(ENDED);
  }

  #giveUp(reason: unknown): void {
    this.#gaveUp.reject(reason);
    this.#abort.abort(reason);
  }
}

/**
 * Sends the request once and reads the whole reply, whatever its status.
 * @throws {ApiError} network, timeout, unexpectedReply, or the signal's reason; `arrived` as far as can be known
 */
export async function attempt(one: Attempt): Promise<Response> {
  const { request, fetch, limits, signal, maxBytes = MAX_BODY_BYTES } = one;
  const body = request.body === null ? undefined : await request.text();
  signal.throwIfAborted();
  const givingUp = new GivingUp(signal);
  try {
    const sent = fetch(request.url, {
      method: request.method,
      headers: request.headers,
      redirect: 'manual',
      signal: givingUp.signal,
      ...(body === undefined ? {} : { body }),
    });
    sent.then((reply) => givingUp.drop(reply)).catch(() => undefined);
    const response = await givingUp.within(sent, limits.headers, 'headers');
    return wholeReply(response, await givingUp.within(readBounded(response, maxBytes), limits.body, 'body'));
  } catch (error) {
    throw failureOf(givingUp.signal.aborted ? givingUp.signal.reason : error);
  } finally {
    givingUp.end();
  }
}

function failureOf(error: unknown): ApiError {
  const fault = faultOf(error);
  if (fault === undefined) return networkFailure(error);
  return new ApiError((error as ApiError).message, fault, { arrived: true });
}
