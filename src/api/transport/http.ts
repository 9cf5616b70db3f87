/** HTTP for the client: JSON in and out, the API key in a header, retries, and every failure as an {@link ApiError}. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { BaseUrl } from '../baseUrl.ts';
import { ApiError, faultOf } from '../errors.ts';
import { isSendableKey } from '../records/ids.ts';
import {
  cancelled,
  parseJson,
  requestError,
  responseError,
  timedOut,
  unexpectedReply,
  type CallInfo,
} from './errorMapping.ts';
import { sendOnce, type Fetch, type HttpRequest, type RawResponse } from './request.ts';
import { DEFAULT_RETRY_LIMITS, retryDelay, type RetryLimits } from './retry.ts';

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** Why a call is going to be retried. `status` is undefined if there was no response. */
export interface Retry {
  readonly status: number | undefined;
  /** Failed attempts so far. */
  readonly attempt: number;
  /** Until the next attempt. */
  readonly milliseconds: number;
}

export interface CallOptions {
  /** Ends the call, which then throws `cancelled`. */
  readonly signal?: AbortSignal | undefined;
  /** Called before each wait for another attempt. */
  readonly onRetry?: ((retry: Retry) => void) | undefined;
}

/** In milliseconds. */
export interface TimeLimits {
  /** From the request to the end of the response body. */
  readonly attempt: number;
  /** All attempts and the waits between them. */
  readonly total: number;
}

const DEFAULT_TIME_LIMITS: TimeLimits = { attempt: 30_000, total: 120_000 };

export interface HttpOptions {
  readonly baseUrl: BaseUrl;
  readonly key: string;
  readonly fetch: Fetch;
  readonly limits?: Partial<TimeLimits> | undefined;
  /** Attempts after the first. There are more for 423, which lasts until another operation has finished. */
  readonly retries?: number | undefined;
  /** The longest wait between two attempts, in milliseconds. */
  readonly maxDelay?: number | undefined;
}

export interface Reply extends Pick<CallInfo, 'requestLine' | 'isChange'> {
  readonly status: number;
  /** Undefined for an empty body (204). */
  readonly json: unknown;
  /** Characters of the body. */
  readonly length: number;
}

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

  /** @throws {ApiError} invalidRequest for a key that is not safe in a header */
  constructor(options: HttpOptions) {
    if (!isSendableKey(options.key)) {
      const message =
        'The API key is empty or contains spaces, line breaks or characters that no API key has';
      throw new ApiError(message, { kind: 'invalidRequest' });
    }
    this.#baseUrl = options.baseUrl;
    this.#key = options.key;
    this.#fetch = options.fetch;
    this.#times = { ...DEFAULT_TIME_LIMITS, ...options.limits };
    this.#retries = {
      retries: options.retries ?? DEFAULT_RETRY_LIMITS.retries,
      maxDelay: options.maxDelay ?? DEFAULT_RETRY_LIMITS.maxDelay,
    };
    this.#headers = { accept: 'application/json', authorization: `Bearer ${options.key}` };
  }

  /** @param path begins with `/` and contains checked ids only. @throws {ApiError} */
  async call(
    method: Method,
    path: string,
    content: CallContent = {},
    options: CallOptions = {},
  ): Promise<Reply> {
    const call = this.#callInfo(method, path);
    return parse(call, await this.#send(call, this.#request(method, path, content), options));
  }

  /** Returns undefined if the body of the response is still `lastBody`. @throws {ApiError} */
  async getIfChanged(
    path: string,
    lastBody: string | undefined,
    options: CallOptions = {},
  ): Promise<{ readonly reply: Reply; readonly body: string } | undefined> {
    const call = this.#callInfo('GET', path);
    const response = await this.#send(call, this.#request('GET', path, {}), options);
    if (response.body === lastBody) return undefined;
    return { reply: parse(call, response), body: response.body };
  }

  #callInfo(method: Method, path: string): CallInfo {
    return { requestLine: `${method} ${path}`, isChange: method !== 'GET', key: this.#key };
  }

  #request(method: Method, path: string, { query = {}, body }: CallContent): HttpRequest {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) parameters.set(name, String(value));
    }
    return {
      method,
      url: `${this.#baseUrl}${path}${parameters.size === 0 ? '' : `?${parameters.toString()}`}`,
      headers: body === undefined ? this.#headers : { ...this.#headers, 'content-type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
    };
  }

  /** Sends the request until it succeeds or must not be retried. @throws the error of the last attempt */
  async #send(call: CallInfo, request: HttpRequest, { signal, onRetry }: CallOptions): Promise<RawResponse> {
    const end = performance.now() + this.#times.total;
    for (let failures = 1; ; failures += 1) {
      if (signal?.aborted === true) throw cancelled(call, false);
      try {
        return await this.#attempt(call, request, signal, end - performance.now());
      } catch (error) {
        const milliseconds = retryDelay(error, call.isChange, failures, this.#retries);
        // A wait beyond the time limit would only replace the reason by a timeout.
        if (milliseconds === undefined || performance.now() + milliseconds >= end) throw error;
        onRetry?.({ status: statusOf(error), attempt: failures, milliseconds });
        await sleep(milliseconds, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  /** @throws {ApiError} also for a response whose status is not 2xx */
  async #attempt(
    call: CallInfo,
    request: HttpRequest,
    caller: AbortSignal | undefined,
    remaining: number,
  ): Promise<RawResponse> {
    const limit = Math.max(1, Math.ceil(Math.min(this.#times.attempt, remaining)));
    const timeout = AbortSignal.timeout(limit);
    const signal = caller === undefined ? timeout : AbortSignal.any([caller, timeout]);
    const response = await sendOnce(this.#fetch, request, signal).catch((error: unknown) => {
      if (caller?.aborted === true) throw cancelled(call, call.isChange);
      if (timeout.aborted) throw timedOut(call, limit);
      throw requestError(call, error);
    });
    if (response.status >= 200 && response.status <= 299) return response;
    throw responseError(call, response);
  }
}

const statusOf = (error: unknown): number | undefined => {
  const fault = faultOf(error);
  return fault?.kind === 'rejected' ? fault.status : undefined;
};

function parse(call: CallInfo, { status, headers, body }: RawResponse): Reply {
  const { requestLine, isChange } = call;
  const { length } = body;
  if (length === 0) return { requestLine, isChange, status, json: undefined, length };
  const parsed = parseJson(body);
  if (parsed !== undefined) return { requestLine, isChange, status, json: parsed.value, length };
  const isHtml = (headers.get('content-type') ?? '').includes('html') || /^\s*</.test(body);
  throw unexpectedReply(call, status, isHtml ? 'html' : 'json');
}
