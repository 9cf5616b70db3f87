/** Replies that are no answer to the call, as errors: the service's refusals, and what somebody else answered. */
import { textOf, type Arrived, type ReplyHeaders } from './attempt.ts';
import { ApiError, type Fault, type UnexpectedReply } from './errors.ts';
import { retryAfterSeconds } from './retryAfter.ts';

/** What a call was, for its errors. */
export interface CallName {
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

const textIn = (body: unknown, name: string, key: string): string | undefined => {
  const value: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined;
  if (typeof value !== 'string' || value.trim() === '') return undefined;
  const harmless = key.length < SHORTEST_SECRET ? value : value.replaceAll(key, '…');
  return harmless.slice(0, LONGEST_MESSAGE);
};

/** What a reply of status 300 and more means; its message is the service's own where it gave one. */
export function refusal({ what, isChange, key }: CallName, reply: Arrived): ApiError {
  const { status, headers } = reply;
  if (status < 400) return unexpected({ what, isChange, key }, status, 'redirect', target(headers));
  const body = parseJson(textOf(reply))?.value;
  const fault: Fault = {
    kind: 'refused',
    status,
    code: textIn(body, 'code', key),
    requestId: textIn(body, 'request_id', key),
    retryAfter: retryAfterSeconds(headers),
  };
  const message = textIn(body, 'message', key) ?? `${what}: status ${status}`;
  // Behind a gateway's 502 or 504 the service may have done the work all the same.
  return new ApiError(message, fault, { arrived: isChange && status >= 500 && status !== 503 });
}

/** The origin only: an address may carry what is nobody's business. */
const target = (headers: ReplyHeaders): string | undefined =>
  URL.parse(headers.get('location') ?? '')?.origin.slice(0, 200);

const WORDS = { html: 'a web page', json: 'broken JSON', redirect: 'a redirect' };

export function unexpected(
  { what, isChange }: CallName,
  status: number,
  reason: keyof typeof WORDS,
  detail?: string,
): ApiError {
  const fault: UnexpectedReply = { kind: 'unexpectedReply', status, reason, detail };
  const to = detail === undefined ? '' : ` to ${detail}`;
  return new ApiError(`${what} answered with ${WORDS[reason]}${to}`, fault, { arrived: isChange });
}
