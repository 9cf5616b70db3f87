/**
 * What can go wrong with a call, told apart by `kind`. Never by `instanceof`: the client is loaded lazily as a
 * bundle of its own, so a class may exist twice. Messages name method and path, never a header, a key or a body.
 */

/** The service answered and said no. `message` is the service's own; `code` and `requestId` where it gave them. */
export interface Refused {
  readonly kind: 'refused';
  readonly status: number;
  readonly code: string | undefined;
  readonly requestId: string | undefined;
  /** Seconds the service asked to wait, where it did. */
  readonly retryAfter: number | undefined;
}

/** No answer arrived. `code` is the system's (`ECONNREFUSED`, `ENOTFOUND`, a certificate code…), if it gave one. */
export interface NetworkFailed {
  readonly kind: 'network';
  readonly code: string | undefined;
}

/** The service was too slow: to answer at all, to send the body, or over all tries together. */
export interface TimedOut {
  readonly kind: 'timeout';
  readonly phase: 'headers' | 'body' | 'total';
}

/** Something answered, but not as the service does (a captive portal, a proxy's page, a redirect, a broken reply). */
export interface UnexpectedReply {
  readonly kind: 'unexpectedReply';
  readonly status: number;
  readonly reason: 'html' | 'json' | 'shape' | 'tooLarge' | 'redirect' | 'host';
  /** The offending field for `shape`, the other origin for `redirect`, the other host for `host`. */
  readonly detail: string | undefined;
}

/** The caller gave up: a closed picker, a cancelled progress, a sign-out. */
export interface Cancelled {
  readonly kind: 'cancelled';
}

/** Nothing was sent: an id that must not be put into a path. */
export interface InvalidRequest {
  readonly kind: 'invalidRequest';
}

export type Fault = Refused | NetworkFailed | TimedOut | UnexpectedReply | Cancelled | InvalidRequest;

/**
 * The one error the client throws. `arrived` tells whether a change may have been made although no answer says so;
 * the client never says that of a call that only reads.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly fault: Fault;
  readonly mayHaveExecuted: boolean;

  constructor(message: string, fault: Fault, options: { cause?: unknown; mayHaveExecuted?: boolean } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.fault = fault;
    this.mayHaveExecuted =
      options.mayHaveExecuted ?? (fault.kind !== 'invalidRequest' && fault.kind !== 'refused');
  }
}

/** The fault of an error from the client, or undefined for any other error. */
export function faultOf(error: unknown): Fault | undefined {
  const isOurs = error instanceof Error && error.name === 'ApiError' && 'fault' in error;
  return isOurs ? (error as ApiError).fault : undefined;
}

/** Whether the service refused with one of these statuses. */
export function isRefused(error: unknown, ...statuses: number[]): boolean {
  const fault = faultOf(error);
  return fault?.kind === 'refused' && (statuses.length === 0 || statuses.includes(fault.status));
}

/** Whether two failures, or none, say the same: the next try of a call fails with an error of its own. */
export function isSameFailure(a: unknown, b: unknown): boolean {
  if (!(a instanceof Error) || !(b instanceof Error)) return a === b;
  const [one, other] = [faultOf(a), faultOf(b)];
  const isSameKind = one?.kind === 'refused' ? isRefused(b, one.status) : one?.kind === other?.kind;
  return isSameKind && a.message === b.message;
}

export const isCancelled = (error: unknown): boolean => faultOf(error)?.kind === 'cancelled';

/** Whether the error leaves open what happened: a change was sent, and no answer tells what became of it. */
export const isOutcomeUnknown = (error: unknown): boolean =>
  faultOf(error) !== undefined && (error as ApiError).mayHaveExecuted;

/** Milliseconds the service asked to wait, where it did. */
export function retryAfterOf(error: unknown): number | undefined {
  const fault = faultOf(error);
  return fault?.kind === 'refused' && fault.retryAfter !== undefined ? fault.retryAfter * 1000 : undefined;
}
