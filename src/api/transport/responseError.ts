/** Replies that are no answer to the call, as errors: the service's refusals, and what somebody else answered. */
import { textOf, type RawResponse, type ReplyHeaders } from './transport.ts';
import { ApiError, type Fault, type UnexpectedReply } from '../errors.ts';
import { parseRetryAfter } from './retryAfter.ts';

/** What a call was, for its errors. */
export interface CallInfo {
  /** Method and path, such as `GET /projects`. */
  readonly what: string;
  readonly isChange: boolean;
  /** Never to be seen in a message, even if the other side repeats it. */
  readonly key: string;
}

const LONGEST_MESSAGE = 1000;

/** A shorter key is no secret, but a part of ordinary words. */
const SHORTEST_SECRET = 8;

/** Parses JSON. @returns undefined for what is no JSON: what it is instead is told by the caller, which knows the reply */
export function parseJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

const stringIn = (body: unknown, name: string): string | undefined => {
  const value: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined;
  return typeof value === 'string' ? value : undefined;
};

const textIn = (body: unknown, name: string, key: string): string | undefined => {
  const value = stringIn(body, name);
  if (value === undefined || value.trim() === '') return undefined;
  const harmless = key.length < SHORTEST_SECRET ? value : value.replaceAll(key, '…');
  return harmless.slice(0, LONGEST_MESSAGE);
};

/** What a reply that is no success means; its message is the service's own where it gave one. */
export function responseError({ what, isChange, key }: CallInfo, reply: RawResponse): ApiError {
  const { status, headers } = reply;
  if (status >= 300 && status <= 399)
    return unexpected({ what, isChange, key }, status, 'redirect', target(headers));
  const body = parseJson(textOf(reply))?.value;
  const fault: Fault = {
    kind: 'refused',
    status,
    code: textIn(body, 'code', key),
    requestId: textIn(body, 'request_id', key),
    retryAfter: parseRetryAfter(headers),
  };
  const message = textIn(body, 'message', key) ?? `${what}: status ${status}`;
  return new ApiError(message, fault, { mayHaveExecuted: isChange && !isNothingDone(status, body) });
}

/**
 * Whether the reply proves that the service did nothing: a 4xx, or its own error with 503. Any other status, and a 503 that
 * a gateway wrote, may hide that the service did the work.
 */
const isNothingDone = (status: number, body: unknown): boolean =>
  (status >= 400 && status <= 499) || (status === 503 && isServiceError(body));

/** The service's errors always have a code, even if it is empty; gateways answer a message alone. */
const isServiceError = (body: unknown): boolean =>
  stringIn(body, 'code') !== undefined && stringIn(body, 'message') !== undefined;

/** The origin only: an address may carry what is nobody's business. */
const target = (headers: ReplyHeaders): string | undefined =>
  URL.parse(headers.get('location') ?? '')?.origin.slice(0, 200);

const WORDS = { html: 'a web page', json: 'broken JSON', redirect: 'a redirect' };

export function unexpected(
  { what, isChange }: CallInfo,
  status: number,
  reason: keyof typeof WORDS,
  detail?: string,
): ApiError {
  const fault: UnexpectedReply = { kind: 'unexpectedReply', status, reason, detail };
  const to = detail === undefined ? '' : ` to ${detail}`;
  return new ApiError(`${what} answered with ${WORDS[reason]}${to}`, fault, { mayHaveExecuted: isChange });
}
