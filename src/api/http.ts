/**
 * HTTP for the client: JSON in and out, the key in its header, and every failure as an {@link ApiError}. The
 * repeating is ky's; what is repeated, and when, is decided in `retries.ts`.
 */
import ky, { HTTPError, type KyInstance } from 'ky';
import { attempt, DEFAULT_TIME_LIMITS, type Fetch, type TimeLimits } from './attempt.ts';
import type { BaseUrl } from './baseUrl.ts';
import { Ending } from './ending.ts';
import { ApiError, faultOf } from './errors.ts';
import { isSendableKey } from './ids.ts';
import { parseJson, refusal, unexpected, type CallName } from './refusal.ts';
import { DEFAULT_RETRY_LIMITS, statusOf, waitBeforeRetry, type Method, type RetryLimits } from './retries.ts';

export type { Method } from './retries.ts';

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

export interface CallContent {
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
}

export class Http {
  readonly #ky: KyInstance;
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
    this.#ky = ky.create({
      timeout: false,
      headers: {
        accept: 'application/json',
        authorization: `Bearer ${options.key}`,
        ...(options.userAgent === undefined ? {} : { 'user-agent': options.userAgent }),
      },
    });
  }

  /** @param path begins with `/`, below the base address, made of checked ids only. @throws {ApiError} */
  async call(
    method: Method,
    path: string,
    content: CallContent = {},
    options: CallOptions = {},
  ): Promise<Reply> {
    const name = { what: `${method.toUpperCase()} ${path}`, isChange: method !== 'get', key: this.#key };
    const ending = new Ending(options.signal, this.#times.total);
    try {
      const response = await this.#send(method, path, content, ending, options.onWait);
      return { method, status: response.status, json: await readJson(name, response) };
    } catch (error) {
      throw await explain(name, error, options.signal?.aborted === true);
    } finally {
      ending.dispose();
    }
  }

  #send(
    method: Method,
    path: string,
    content: CallContent,
    ending: Ending,
    onWait: CallOptions['onWait'],
  ): Promise<Response> {
    const url = new URL(`${this.#baseUrl}${path}`);
    for (const [name, value] of Object.entries(content.query ?? {})) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    const { signal } = ending;
    let milliseconds = 0;
    return this.#ky(url, {
      method,
      signal,
      ...(content.body === undefined ? {} : { json: content.body }),
      fetch: async (input) => {
        const request = input instanceof Request ? input : new Request(input);
        return attempt({ request, fetch: this.#fetch, limits: this.#times, signal });
      },
      retry: {
        limit: Number.POSITIVE_INFINITY,
        methods: ['get', 'post', 'patch', 'delete'],
        delay: () => milliseconds,
        shouldRetry: ({ error, retryCount }) => {
          const wait = waitBeforeRetry(method, error, retryCount, this.#retries);
          // A wait beyond the end of the call would only hide the reason behind a timeout.
          if (wait === undefined || wait >= ending.remaining) return false;
          milliseconds = wait;
          onWait?.({ status: statusOf(error), attempt: retryCount, milliseconds });
          return true;
        },
      },
    });
  }
}

/** Errors that are none of the network's or the service's are defects and stay what they are. */
async function explain(name: CallName, error: unknown, isCancelled: boolean): Promise<unknown> {
  if (error instanceof HTTPError) {
    const refused = await refusal(name, error.response);
    return isCancelled ? cancelled(name, refused.arrived) : refused;
  }
  const fault = faultOf(error);
  if (fault === undefined || !(error instanceof ApiError)) return error;
  const arrived = name.isChange && error.arrived;
  if (isCancelled) return cancelled(name, arrived);
  const message = error.message.startsWith(name.what) ? error.message : `${name.what}: ${error.message}`;
  return new ApiError(message, fault, { arrived });
}

const cancelled = ({ what }: CallName, arrived: boolean): ApiError =>
  new ApiError(`${what} was cancelled`, { kind: 'cancelled' }, { arrived });

async function readJson(name: CallName, response: Response): Promise<unknown> {
  const text = await response.text();
  if (text === '') return undefined;
  const parsed = parseJson(text);
  if (parsed !== undefined) return parsed.value;
  const isHtml = (response.headers.get('content-type') ?? '').includes('html') || /^\s*</.test(text);
  throw unexpected(name, response.status, isHtml ? 'html' : 'json');
}
