/** Maps every failure of a call to an {@link ApiError} that names the call. */
import { fieldsOf } from '../../base/fieldsOf.ts';
import { MIN_SECRET_LENGTH } from '../../base/redact.ts';
import { ApiError, isCertificateCode, type ApiFault, type UnexpectedReply } from './errors.ts';
import { BodyTooLargeError, type RawResponse, type ResponseHeaders } from './request.ts';
import { parseRetryAfter } from './retry.ts';

/** A call, as its errors describe it. */
export interface CallInfo {
  /** Method and path, such as `GET /projects`. */
  readonly requestLine: string;
  readonly isChange: boolean;
  /** The API key, which is removed from error messages. */
  readonly key: string;
}

/** @param mayHaveExecuted false for a call that was cancelled before its first attempt or between two */
export const cancelledError = (
  { requestLine }: CallInfo,
  { mayHaveExecuted }: { readonly mayHaveExecuted: boolean },
): ApiError => new ApiError(`${requestLine} was cancelled`, { kind: 'cancelled' }, { mayHaveExecuted });

export const timeoutError = ({ requestLine, isChange }: CallInfo, milliseconds: number): ApiError =>
  new ApiError(
    `${requestLine}: no reply within ${milliseconds} ms`,
    { kind: 'timeout' },
    { mayHaveExecuted: isChange },
  );

/** If one of these system calls fails, or a call fails with one of these errors, no byte of the request was sent. */
const CONNECT_SYSCALLS: ReadonlySet<string | undefined> = new Set(['connect', 'getaddrinfo']);
const CONNECT_ERRORS: ReadonlySet<string | undefined> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);

interface SystemError {
  readonly code: string;
  readonly syscall: string | undefined;
}

/** @param error what `sendOnce` threw, unless the call was cancelled or timed out */
export function requestError(call: CallInfo, error: unknown): ApiError {
  if (error instanceof BodyTooLargeError) return unexpectedReplyError(call, error.status, 'tooLarge');
  const { code, syscall } = systemError(error) ?? {};
  // OpenSSL's own errors may also come after the request was sent, such as an alert of a proxy.
  const isUntrusted = isCertificateCode(code) && code?.startsWith('ERR_SSL_') !== true;
  const neverSent = CONNECT_SYSCALLS.has(syscall) || CONNECT_ERRORS.has(code) || isUntrusted;
  return new ApiError(
    `${call.requestLine}: ${code ?? 'the connection failed'}`,
    { kind: 'network', code },
    { mayHaveExecuted: call.isChange && !neverSent },
  );
}

/** Finds Node's error, which fetch wraps in one or more layers. If several addresses failed, one is an AggregateError. */
function systemError(error: unknown, depth = 0): SystemError | undefined {
  if (!(error instanceof Error) || depth > 8) return undefined;
  const first: unknown = error instanceof AggregateError ? error.errors[0] : undefined;
  const inner = systemError(error.cause, depth + 1) ?? systemError(first, depth + 1);
  if (inner !== undefined) return inner;
  const code = textField(error, 'code');
  return code === undefined ? undefined : { code, syscall: textField(error, 'syscall') };
}

/** Returns undefined for text that is not JSON. */
export function parseJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined; // The caller reports the response.
  }
}

/** Returns the error for a response whose status isn't 2xx, with the service's message if there is one. */
export function responseError(call: CallInfo, { status, headers, body }: RawResponse): ApiError {
  if (status >= 300 && status <= 399)
    return unexpectedReplyError(call, status, 'redirect', redirectTarget(headers));
  const json = parseJson(body)?.value;
  const message = safeText(json, 'message', call.key);
  const fault: ApiFault = {
    kind: 'rejected',
    status,
    ...(message === undefined ? { isSilent: true } : {}),
    code: safeText(json, 'code', call.key),
    requestId: safeText(json, 'request_id', call.key),
    retryAfter: parseRetryAfter(headers),
  };
  const mayHaveExecuted = call.isChange && !provesNotExecuted(status, json);
  return new ApiError(message ?? `${call.requestLine}: status ${status}`, fault, { mayHaveExecuted });
}

/**
 * Whether the response proves that the service did nothing: a 4xx, or a 503 from the service itself. After any other
 * status, or a 503 from a gateway, the service may have made the change.
 */
const provesNotExecuted = (status: number, json: unknown): boolean =>
  (status >= 400 && status <= 499) || (status === 503 && isServiceError(json));

/**
 * Whether the service itself has sent the error. Errors of the service have a code, even if it is empty. Errors of gateways have
 * only a message.
 */
const isServiceError = (json: unknown): boolean =>
  textField(json, 'code') !== undefined && textField(json, 'message') !== undefined;

/** Returns only the origin, because the rest of the address may be private. */
const redirectTarget = (headers: ResponseHeaders): string | undefined =>
  URL.parse(headers.get('location') ?? '')?.origin.slice(0, 200);

const MAX_MESSAGE_LENGTH = 1000;

/** Returns a text of the reply, shortened and without the API key; undefined if there is none, or only white space. */
const safeText = (json: unknown, name: string, apiKey: string): string | undefined => {
  const text = textField(json, name);
  if (text === undefined || text.trim() === '') return undefined;
  const redacted = apiKey.length < MIN_SECRET_LENGTH ? text : text.replaceAll(apiKey, '…');
  return redacted.slice(0, MAX_MESSAGE_LENGTH);
};

const textField = (value: unknown, name: string): string | undefined => {
  const text = fieldsOf(value)[name];
  return typeof text === 'string' ? text : undefined;
};

const REPLIES = {
  html: 'a web page',
  json: 'broken JSON',
  redirect: 'a redirect',
  tooLarge: 'too large a body',
};

/** Returns the error for a response that can't be used. @param detail the origin of a redirect */
export function unexpectedReplyError(
  { requestLine, isChange }: CallInfo,
  status: number,
  reason: keyof typeof REPLIES,
  detail?: string,
): ApiError {
  const fault: UnexpectedReply = { kind: 'unexpectedReply', status, reason, detail };
  const to = detail === undefined ? '' : ` to ${detail}`;
  return new ApiError(`${requestLine} returned ${REPLIES[reason]}${to}`, fault, {
    mayHaveExecuted: isChange,
  });
}
