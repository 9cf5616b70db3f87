/** HTTP with JSON, the API key in a header and retries. Every failure is an {@link ApiError}. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { BaseUrl } from './baseUrl.ts';
import { ApiError, isNotOffered, statusOf } from './errors.ts';
import { isSendableKey } from '../records/ids.ts';
import {
  cancelledError,
  parseJson,
  requestError,
  responseError,
  timeoutError,
  unexpectedReplyError,
  type CallInfo,
} from './errorMapping.ts';
import { sendOnce, type Fetch, type RawResponse, type RequestContent } from './request.ts';
import { retryDelay, type RetryLimits } from './retry.ts';

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** A retry that is about to happen. `status` is undefined if there was no response. */
export interface PendingRetry {
  readonly status: number | undefined;
  /** The number of failed attempts so far. */
  readonly attempt: number;
  /** Milliseconds until the next attempt. */
  readonly delay: number;
}

/** How a call can be ended, and who learns of its retries. */
export interface CallOptions {
  /** Ends the call, which then throws `cancelledError`. */
  readonly signal?: AbortSignal | undefined;
  /** Called before each wait for another attempt. */
  readonly onRetry?: ((retry: PendingRetry) => void) | undefined;
}

/** Limits in milliseconds. */
interface TimeLimits {
  /** The limit from the request to the end of the response body. */
  readonly attempt?: number;
  /** The limit for all attempts and the waits between them. */
  readonly total?: number;
}

export interface HttpOptions extends RetryLimits {
  readonly baseUrl: BaseUrl;
  readonly key: string;
  readonly fetch: Fetch;
  readonly limits?: TimeLimits;
}

/** A reply of the service with its text. */
export interface Reply extends Pick<CallInfo, 'requestLine' | 'isChange'> {
  readonly status: number;
  /** Undefined for an empty body (204). */
  readonly json: unknown;
  readonly body: string;
}

export interface CallContent {
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined;
  readonly body?: unknown;
}

interface Call extends CallInfo {
  readonly url: string;
  readonly init: RequestContent;
}

/** Sends requests to the service at one address, with one key. */
export class Http {
  readonly #options: HttpOptions;

  /** @throws {ApiError} invalidRequest for a key that is not safe in a header */
  constructor(options: HttpOptions) {
    if (!isSendableKey(options.key)) {
      const message =
        'The API key is empty or contains spaces, line breaks or characters that no API key has';
      throw new ApiError(message, { kind: 'invalidRequest' });
    }
    this.#options = options;
  }

  /** @param path begins with `/` and contains only checked ids. @throws {ApiError} */
  async call(
    method: Method,
    path: string,
    content: CallContent = {},
    options: CallOptions = {},
  ): Promise<Reply> {
    const call = this.#prepare(method, path, content);
    return parseReply(call, await this.#send(call, options));
  }

  /** Requests a resource that the specification doesn't promise. @returns undefined if the service doesn't offer it */
  async getIfOffered(
    path: string,
    query: CallContent['query'],
    options?: CallOptions,
  ): Promise<Reply | undefined> {
    try {
      return await this.call('GET', path, { query }, options);
    } catch (error) {
      if (isNotOffered(error)) return undefined;
      throw error;
    }
  }

  /** Returns undefined if the body of the response is still `lastBody`. @throws {ApiError} */
  async getIfChanged(
    path: string,
    lastBody: string | undefined,
    options: CallOptions = {},
  ): Promise<Reply | undefined> {
    const call = this.#prepare('GET', path, {});
    const response = await this.#send(call, options);
    return response.body === lastBody ? undefined : parseReply(call, response);
  }

  #prepare(method: Method, path: string, { query = {}, body }: CallContent): Call {
    const { baseUrl, key } = this.#options;
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) parameters.set(name, String(value));
    }
    const headers = { accept: 'application/json', authorization: `Bearer ${key}` };
    return {
      requestLine: `${method} ${path}`,
      isChange: method !== 'GET',
      key,
      url: `${baseUrl}${path}${parameters.size === 0 ? '' : `?${parameters.toString()}`}`,
      init:
        body === undefined
          ? { method, headers }
          : {
              method,
              headers: { ...headers, 'content-type': 'application/json' },
              body: JSON.stringify(body),
            },
    };
  }

  /** Retries the request until it succeeds or must not be repeated. @throws the error of the last attempt */
  async #send(call: Call, { signal, onRetry }: CallOptions): Promise<RawResponse> {
    const { limits: { total = 120_000 } = {} } = this.#options;
    const deadline = performance.now() + total;
    for (let failures = 1; ; failures += 1) {
      if (signal?.aborted === true) throw cancelledError(call, { mayHaveExecuted: false });
      try {
        return await this.#attempt(call, signal, deadline - performance.now());
      } catch (error) {
        const delay = retryDelay(error, call.isChange, failures, this.#options);
        // Don't wait beyond the time limit: the timeout would hide the reason.
        if (delay === undefined || performance.now() + delay >= deadline) throw error;
        onRetry?.({ status: statusOf(error), attempt: failures, delay });
        await sleep(delay, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  /** @throws {ApiError} also for a response whose status is not 2xx */
  async #attempt(call: Call, callerSignal: AbortSignal | undefined, remaining: number): Promise<RawResponse> {
    const { fetch, limits: { attempt = 30_000 } = {} } = this.#options;
    const limit = Math.max(1, Math.ceil(Math.min(attempt, remaining)));
    const timeout = AbortSignal.timeout(limit);
    const signal = callerSignal === undefined ? timeout : AbortSignal.any([callerSignal, timeout]);
    const response = await sendOnce(fetch, call.url, call.init, signal).catch((error: unknown) => {
      if (callerSignal?.aborted === true) throw cancelledError(call, { mayHaveExecuted: call.isChange });
      if (timeout.aborted) throw timeoutError(call, limit);
      throw requestError(call, error);
    });
    if (response.status >= 200 && response.status <= 299) return response;
    throw responseError(call, response);
  }
}

function parseReply(call: CallInfo, { status, headers, body }: RawResponse): Reply {
  const { requestLine, isChange } = call;
  const reply = { requestLine, isChange, status, body };
  if (body === '') return { ...reply, json: undefined };
  const parsed = parseJson(body);
  if (parsed !== undefined) return { ...reply, json: parsed.value };
  const isHtml = (headers.get('content-type') ?? '').includes('html') || /^\s*</.test(body);
  throw unexpectedReplyError(call, status, isHtml ? 'html' : 'json');
}
