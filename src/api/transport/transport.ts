/**
 * One attempt at a request: the given fetch with time limits on headers and body, a bounded body, and no
 * redirect followed, so that the key reaches its own service and nothing else. The body is read whole here:
 * a connection that breaks in the middle of it is a failed attempt like any other.
 */
import { ApiError, faultOf } from '../errors.ts';
import { networkFailure } from './networkFailure.ts';

export interface FetchInit {
  /** In capitals: fetch makes only some of them so. */
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly redirect: 'manual';
  readonly signal: AbortSignal;
}

/** What is used of a reply. */
export interface Answer {
  readonly status: number;
  readonly headers: ReplyHeaders;
  readonly body: { getReader(): { read(): Promise<Piece> }; cancel(): Promise<void> } | null;
}

type Piece =
  { readonly done?: false; readonly value: Uint8Array } | { readonly done: true; readonly value?: undefined };

export interface ReplyHeaders {
  /** @param name in small letters */
  get(name: string): string | null;
}

/** `globalThis.fetch`, as far as it is used. */
export type Fetch = (url: string, init: FetchInit) => Promise<Answer>;

/** Milliseconds; `total` covers all attempts of a call and the waits between them. */
export interface TimeLimits {
  readonly headers: number;
  readonly body: number;
  readonly total: number;
}

export const DEFAULT_TIME_LIMITS: TimeLimits = { headers: 15_000, body: 30_000, total: 120_000 };

/** Bytes after decompression; a list of 20,000 computes takes about 15 MB. */
export const MAX_BODY_BYTES = 32 * 1024 * 1024;

/** What is sent, with every attempt anew. */
export interface HttpRequest extends Pick<FetchInit, 'method' | 'headers'> {
  readonly url: string;
  readonly body: string | undefined;
}

/** A whole reply, whatever its status. The words of its status line are left out: anyone may have written them. */
export interface RawResponse {
  readonly status: number;
  readonly headers: ReplyHeaders;
  /** The body as it came, piece by piece. */
  readonly chunks: readonly Uint8Array[];
}

const UTF_8 = new TextDecoder();

/** The body as text, without a byte order mark. */
export const textOf = ({ chunks }: Pick<RawResponse, 'chunks'>): string =>
  UTF_8.decode(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks));

export interface Attempt {
  readonly request: HttpRequest;
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

/** Read from the stream and not by `arrayBuffer()`, which would take whatever comes before it could be bounded. */
async function readBounded(response: Answer, maxBytes: number): Promise<Uint8Array[]> {
  const { status } = response;
  if (Number(response.headers.get('content-length')) > maxBytes) throw tooLarge(status, maxBytes);
  const chunks: Uint8Array[] = [];
  const reader = response.body?.getReader();
  let bytes = 0;
  // Not `for await`: it makes two promises more for every chunk.
  for (let next = await reader?.read(); next?.done === false; next = await reader?.read()) {
    bytes += next.value.byteLength;
    if (bytes > maxBytes) throw tooLarge(status, maxBytes);
    chunks.push(next.value);
  }
  return chunks;
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
  async drop(reply: Answer): Promise<void> {
    if (this.signal.aborted) await reply.body?.cancel();
  }

  /** Leaves no listener behind and frees the socket of a reply that was not read to its end. */
  end(isRead: boolean): void {
    this.#caller.removeEventListener('abort', this.#onCallerAbort);
    if (!isRead) this.#abort.abort(ENDED);
  }

  #giveUp(reason: unknown): void {
    this.#gaveUp.reject(reason);
    this.#abort.abort(reason);
  }
}

/**
 * Sends the request once and reads the whole reply, whatever its status.
 * @throws {ApiError} network, timeout, unexpectedReply, or the signal's reason; `mayHaveExecuted` as far as can be known
 */
export async function attempt(one: Attempt): Promise<RawResponse> {
  const { request, fetch, limits, signal, maxBytes = MAX_BODY_BYTES } = one;
  const { method, url, headers, body } = request;
  signal.throwIfAborted();
  const givingUp = new GivingUp(signal);
  let isRead = false;
  try {
    const sent = fetch(url, {
      method,
      headers,
      redirect: 'manual',
      signal: givingUp.signal,
      ...(body === undefined ? {} : { body }),
    });
    sent.then((reply) => givingUp.drop(reply)).catch(() => undefined);
    const response = await givingUp.within(sent, limits.headers, 'headers');
    const chunks = await givingUp.within(readBounded(response, maxBytes), limits.body, 'body');
    isRead = true;
    return { status: response.status, headers: response.headers, chunks };
  } catch (error) {
    throw failureOf(givingUp.signal.aborted ? givingUp.signal.reason : error);
  } finally {
    givingUp.end(isRead);
  }
}

function failureOf(error: unknown): ApiError {
  const fault = faultOf(error);
  if (fault === undefined) return networkFailure(error);
  return new ApiError((error as ApiError).message, fault, { mayHaveExecuted: true });
}
