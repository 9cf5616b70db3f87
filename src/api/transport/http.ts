/**
 * HTTP for the client: JSON in and out, the key in its header, and every failure as an {@link ApiError}. What is
 * repeated, and when, is decided in `retries.ts`. The repeating itself is a loop here: a library around it makes a
 * `Request`, another `Response` and copies of all headers for each call, which was half the time of a call.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  attempt,
  DEFAULT_TIME_LIMITS,
  textOf,
  type RawResponse,
  type Fetch,
  type HttpRequest,
  type TimeLimits,
} from './transport.ts';
import type { BaseUrl } from '../baseUrl.ts';
import { Ending } from './deadline.ts';
import { ApiError, faultOf } from '../errors.ts';
import { isSameBytes, type ReplyBytes } from './replyBytes.ts';
import { isSendableKey } from '../records/ids.ts';
import { parseJson, responseError, unexpected, type CallInfo } from './responseError.ts';
import { DEFAULT_RETRY_LIMITS, retryDelay, type RetryLimits } from './retry.ts';

export type Method = 'get' | 'post' | 'patch' | 'delete';

/** Why a call is going to be tried again; `status` is undefined when no answer came. */
export interface Wait {
  readonly status: number | undefined;
  /** Failed attempts so far. */
  readonly attempt: number;
  /** Until the next attempt. */
  readonly milliseconds: number;
}

export interface CallOptions {
  /** Ends the call; it then throws `cancelled`. */
  readonly signal?: AbortSignal | undefined;
  /** Told as each wait for a further attempt begins. */
  readonly onWait?: ((wait: Wait) => void) | undefined;
}

export interface HttpOptions {
  readonly baseUrl: BaseUrl;
  readonly key: string;
  readonly fetch: Fetch;
  readonly limits?: Partial<TimeLimits> | undefined;
  /** Further attempts after the first; more for 423, where another operation has to end first. */
  readonly retries?: number | undefined;
  /** The longest wait between two attempts, in milliseconds. */
  readonly longestWait?: number | undefined;
  readonly userAgent?: string | undefined;
}

export interface Reply {
  readonly method: Method;
  readonly status: number;
  /** Undefined for a reply without a body (204). */
  readonly json: unknown;
}

/** A reply, or that it is the same as the last one. */
export type Again =
  { readonly isSame: true } | { readonly isSame: false; readonly reply: Reply; readonly bytes: ReplyBytes };

export interface CallContent {
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
}

export class Http {
  readonly #headers: Readonly<Record<string, string>>;
  readonly #baseUrl: BaseUrl;
  readonly #key: string;
  readonly #fetch: Fetch;
  readonly #times: TimeLimits;
  readonly #retries: RetryLimits;

  /** @throws {ApiError} invalidRequest for a key that cannot be put into a header */
  constructor(options: HttpOptions) {
    if (!isSendableKey(options.key)) {
      const message = 'The API key is empty or holds spaces, line breaks or letters that no API key has';
      throw new ApiError(message, { kind: 'invalidRequest' });
    }
    this.#baseUrl = options.baseUrl;
    this.#key = options.key;
    this.#fetch = options.fetch;
    this.#times = { ...DEFAULT_TIME_LIMITS, ...options.limits };
    this.#retries = {
      retries: options.retries ?? DEFAULT_RETRY_LIMITS.retries,
      longestWait: options.longestWait ?? DEFAULT_RETRY_LIMITS.longestWait,
    };
    this.#headers = {
      accept: 'application/json',
      authorization: `Bearer ${options.key}`,
      ...(options.userAgent === undefined ? {} : { 'user-agent': options.userAgent }),
    };
  }

  /** @param path begins with `/`, below the base address, made of checked ids only. @throws {ApiError} */
  async call(
    method: Method,
    path: string,
    content: CallContent = {},
    options: CallOptions = {},
  ): Promise<Reply> {
    const name = this.#nameOf(method, path);
    const response = await this.#answer(name, this.#outgoing(method, path, content), options);
    return { method, status: response.status, json: readJson(name, response) };
  }

  /**
   * A GET made again and again: a reply that is byte for byte the last one is told as such and not read.
   * @param last of the reply whose content is still what the caller holds. @throws {ApiError}
   */
  async callAgain(path: string, last: ReplyBytes | undefined, options: CallOptions = {}): Promise<Again> {
    const name = this.#nameOf('get', path);
    const response = await this.#answer(name, this.#outgoing('get', path, {}), options);
    const bytes = response.chunks;
    if (last !== undefined && isSameBytes(bytes, last)) return { isSame: true };
    return {
      isSame: false,
      bytes,
      reply: { method: 'get', status: response.status, json: readJson(name, response) },
    };
  }

  #nameOf(method: Method, path: string): CallInfo {
    return { what: `${method.toUpperCase()} ${path}`, isChange: method !== 'get', key: this.#key };
  }

  #outgoing(method: Method, path: string, { query = {}, body }: CallContent): HttpRequest {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) parameters.set(name, String(value));
    }
    return {
      method: method.toUpperCase(),
      url: `${this.#baseUrl}${path}${parameters.size === 0 ? '' : `?${parameters.toString()}`}`,
      headers: body === undefined ? this.#headers : { ...this.#headers, 'content-type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
    };
  }

  /** @returns a reply that says yes. @throws {ApiError} */
  async #answer(name: CallInfo, request: HttpRequest, { signal, onWait }: CallOptions): Promise<RawResponse> {
    const ending = new Ending(signal, this.#times.total);
    try {
      return await this.#send(name, request, ending, onWait);
    } catch (error) {
      const isCancelled = signal?.aborted === true && error instanceof ApiError;
      throw isCancelled ? cancelled(name, error.mayHaveExecuted) : error;
    } finally {
      ending.dispose();
    }
  }

  /** Sends the request until it succeeds, or must not be sent again. @throws what the last attempt threw */
  async #send(
    name: CallInfo,
    request: HttpRequest,
    ending: Ending,
    onWait: CallOptions['onWait'],
  ): Promise<RawResponse> {
    for (let failures = 1; ; failures += 1) {
      try {
        return await this.#try(name, request, ending.signal);
      } catch (error) {
        const milliseconds = retryDelay(error, name.isChange, failures, this.#retries);
        // A wait beyond the end of the call would only hide the reason behind a timeout.
        if (milliseconds === undefined || milliseconds >= ending.remaining) throw error;
        onWait?.({ status: statusOf(error), attempt: failures, milliseconds });
        // If the call ends during the wait, the next attempt throws the reason and sends nothing.
        await sleep(milliseconds, undefined, { signal: ending.signal }).catch(() => undefined);
      }
    }
  }

  async #try(name: CallInfo, request: HttpRequest, signal: AbortSignal): Promise<RawResponse> {
    const sent = attempt({ request, fetch: this.#fetch, limits: this.#times, signal });
    const response = await sent.catch((error: unknown) => {
      throw unanswered(name, error);
    });
    if (response.status >= 200 && response.status <= 299) return response;
    throw responseError(name, response);
  }
}

const statusOf = (error: unknown): number | undefined => {
  const fault = faultOf(error);
  return fault?.kind === 'refused' ? fault.status : undefined;
};

/** An attempt that brought no reply, as an error of the call. Defects stay what they are. */
function unanswered({ what, isChange }: CallInfo, error: unknown): unknown {
  const fault = faultOf(error);
  if (fault === undefined || !(error instanceof ApiError)) return error;
  return new ApiError(`${what}: ${error.message}`, fault, {
    mayHaveExecuted: isChange && error.mayHaveExecuted,
  });
}

const cancelled = ({ what }: CallInfo, mayHaveExecuted: boolean): ApiError =>
  new ApiError(`${what} was cancelled`, { kind: 'cancelled' }, { mayHaveExecuted });

function readJson(name: CallInfo, response: RawResponse): unknown {
  const text = textOf(response);
  if (text === '') return undefined;
  const parsed = parseJson(text);
  if (parsed !== undefined) return parsed.value;
  const isHtml = (response.headers.get('content-type') ?? '').includes('html') || /^\s*</.test(text);
  throw unexpected(name, response.status, isHtml ? 'html' : 'json');
}
