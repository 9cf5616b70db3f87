/**
 * HTTP for the client: JSON in and out, the key in its header, retries by what is safe, and every failure as an
 * {@link ApiError}. Retries, backoff and `Retry-After` are ky's; which failures are safe to retry is decided here.
 */
import ky, { HTTPError, TimeoutError, type KyInstance } from 'ky';
import { attemptWith, DEFAULT_TIME_LIMITS, type Fetch, type TimeLimits } from './attempt.ts';
import type { BaseUrl } from './baseUrl.ts';
import { ApiError, faultOf, type Fault } from './errors.ts';
import { ErrorBody } from './records.ts';

export type Method = 'get' | 'post' | 'patch' | 'delete';

/** Why a call is being tried again; `status` is undefined when no answer came. */
export interface Wait {
  readonly status: number | undefined;
  readonly attempt: number;
}

export interface CallOptions {
  /** Ends the call; it then throws `cancelled`. */
  readonly signal?: AbortSignal | undefined;
  /** Told before each further attempt. */
  readonly onWait?: ((wait: Wait) => void) | undefined;
}

export interface HttpOptions {
  readonly baseUrl: BaseUrl;
  readonly key: string;
  readonly fetch: Fetch;
  readonly limits?: Partial<TimeLimits> | undefined;
  /** Further attempts after the first. */
  readonly retries?: number | undefined;
  /** The longest wait between two attempts, in milliseconds. */
  readonly longestWait?: number | undefined;
  readonly userAgent?: string | undefined;
}

export interface Reply {
  readonly status: number;
  /** Undefined for a reply without a body (204). */
  readonly json: unknown;
}

export interface CallContent {
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
}

/** Retrying these is safe whatever the method: the service did nothing (public service: 423 and 503). */
const NOTHING_WAS_DONE: ReadonlySet<number> = new Set([423, 503]);
const RETRIED_STATUSES = [408, 423, 429, 500, 502, 503, 504];

function mayRetry(method: string, error: Error): boolean | undefined {
  if (error instanceof HTTPError) {
    return method === 'get' || NOTHING_WAS_DONE.has(error.response.status) ? undefined : false;
  }
  if (method !== 'get') return false;
  const kind = faultOf(error)?.kind;
  return kind !== 'unexpectedReply' && kind !== 'cancelled' && error.name !== 'AbortError';
}

export class Http {
  readonly #ky: KyInstance;
  readonly #total: number;
  readonly #baseUrl: BaseUrl;

  constructor(options: HttpOptions) {
    const limits = { ...DEFAULT_TIME_LIMITS, ...options.limits };
    this.#total = limits.total;
    this.#baseUrl = options.baseUrl;
    const longestWait = options.longestWait ?? 30_000;
    this.#ky = ky.create({
      fetch: attemptWith(options.fetch, limits),
      timeout: false,
      headers: {
        accept: 'application/json',
        authorization: `Bearer ${options.key}`,
        ...(options.userAgent === undefined ? {} : { 'user-agent': options.userAgent }),
      },
      retry: {
        limit: options.retries ?? 5,
        methods: ['get', 'post', 'patch', 'delete'],
        statusCodes: RETRIED_STATUSES,
        afterStatusCodes: RETRIED_STATUSES,
        maxRetryAfter: longestWait,
        backoffLimit: longestWait,
        jitter: (delay) => delay * (0.75 + Math.random() * 0.5),
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
    const what = `${method.toUpperCase()} ${path}`;
    const deadline = AbortSignal.timeout(this.#total);
    const signal = options.signal === undefined ? deadline : AbortSignal.any([options.signal, deadline]);
    try {
      const response = await this.#send(method, path, content, signal, options.onWait);
      return await readReply(what, response);
    } catch (error) {
      throw await this.#explain(what, error, options.signal, deadline);
    }
  }

  #send(
    method: Method,
    path: string,
    content: CallContent,
    signal: AbortSignal,
    onWait: CallOptions['onWait'],
  ) {
    const url = new URL(`${this.#baseUrl}${path}`);
    for (const [name, value] of Object.entries(content.query ?? {})) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    return this.#ky(url, {
      method,
      signal,
      ...(content.body === undefined ? {} : { json: content.body }),
      retry: { shouldRetry: ({ error }) => mayRetry(method, error) },
      hooks: {
        beforeRetry: [
          ({ error, retryCount }) => {
            const status = error instanceof HTTPError ? error.response.status : undefined;
            onWait?.({ status, attempt: retryCount });
          },
        ],
      },
    });
  }

  async #explain(
    what: string,
    error: unknown,
    caller: AbortSignal | undefined,
    deadline: AbortSignal,
  ): Promise<ApiError> {
    if (caller?.aborted === true)
      return new ApiError(`${what} was cancelled`, { kind: 'cancelled' }, { arrived: true });
    if (error instanceof HTTPError) return refusal(what, error.response);
    const fault = faultOf(error);
    if (fault !== undefined && error instanceof Error)
      return new ApiError(`${what}: ${error.message}`, fault);
    if (deadline.aborted || error instanceof TimeoutError) {
      return new ApiError(`${what}: no answer within ${this.#total} ms`, { kind: 'timeout', phase: 'total' });
    }
    const code = systemCode(error);
    const neverLeft = code !== undefined && NEVER_CONNECTED.has(code);
    const reason = code ?? 'the connection failed';
    return new ApiError(
      `${what}: ${reason}`,
      { kind: 'network', code },
      { cause: error, arrived: !neverLeft },
    );
  }
}

/** With these the connection was never made, so the request cannot have reached the service. */
const NEVER_CONNECTED: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENETUNREACH',
  'EHOSTUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

function systemCode(error: unknown): string | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && typeof cause.code === 'string') return cause.code;
    if (cause instanceof AggregateError && cause.errors.length > 0) return systemCode(cause.errors[0]);
  }
  return undefined;
}

const looksLikeHtml = (response: Response, text: string): boolean =>
  (response.headers.get('content-type') ?? '').includes('html') || /^\s*</.test(text);

const parseJson = (text: string): { readonly value: unknown } | undefined => {
  try {
    return { value: JSON.parse(text) };
  } catch {
    // What it is instead is told by the caller, which knows the reply.
    return undefined;
  }
};

/** ky throws for 4xx and 5xx and for 3xx alike; what is not the service's own error body becomes words of ours. */
async function refusal(what: string, response: Response): Promise<ApiError> {
  if (response.status < 400) return unexpected(what, response, 'redirect', originOf(response));
  const text = await response.text();
  const body = ErrorBody.safeParse(parseJson(text)?.value);
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  const fault: Fault = {
    kind: 'refused',
    status: response.status,
    code: body.data?.code ?? undefined,
    requestId: body.data?.request_id ?? undefined,
    retryAfter: Number.isFinite(seconds) ? seconds : undefined,
  };
  const message = body.data?.message ?? `${what}: status ${response.status} ${response.statusText}`.trimEnd();
  // Behind a gateway's 502 or 504 the service may have done the work all the same.
  return new ApiError(message, fault, { arrived: response.status >= 500 && response.status !== 503 });
}

const originOf = (response: Response): string | undefined =>
  URL.parse(response.headers.get('location') ?? '')?.origin;

function unexpected(
  what: string,
  response: Response,
  reason: 'html' | 'json' | 'redirect',
  detail?: string,
): ApiError {
  const words = {
    html: 'a web page',
    json: 'broken JSON',
    redirect: `a redirect to ${detail ?? 'elsewhere'}`,
  }[reason];
  const fault = { kind: 'unexpectedReply', status: response.status, reason, detail } as const;
  return new ApiError(`${what} answered with ${words}`, fault);
}

async function readReply(what: string, response: Response): Promise<Reply> {
  const text = await response.text();
  if (text === '') return { status: response.status, json: undefined };
  const parsed = parseJson(text);
  if (parsed !== undefined) return { status: response.status, json: parsed.value };
  throw unexpected(what, response, looksLikeHtml(response, text) ? 'html' : 'json');
}
