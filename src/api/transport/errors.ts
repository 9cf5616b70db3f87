/** The ways in which a call can fail. Messages contain the method and path, but no header, key or body. */

/** The service rejected the request. The error's message is the service's own, unless `isSilent`. */
interface Rejected {
  readonly kind: 'rejected';
  readonly status: number;
  /** The reply has no message, so the error's message is the request and the status. */
  readonly isSilent?: boolean;
  readonly code: string | undefined;
  readonly requestId: string | undefined;
  /** Seconds that the service asked to wait. */
  readonly retryAfter: number | undefined;
}

/** A response that can't be used: a redirect, too large, for another host, or not the API's JSON (a proxy's page). */
export interface UnexpectedReply {
  readonly kind: 'unexpectedReply';
  readonly status: number;
  readonly reason: 'html' | 'json' | 'shape' | 'tooLarge' | 'redirect' | 'host';
  /** The wrong field for `shape`, the other origin for `redirect`, the other host for `host`. */
  readonly detail: string | undefined;
}

/** The local service's error code if there is no usable Postgres, so that no compute can start. */
export const POSTGRES_MISSING = 'POSTGRES_MISSING';

/** The code of the local service's error for a database that its branch didn't have at the requested moment. */
export const DATABASE_MISSING_THEN = 'DATABASE_MISSING_THEN';

/** The local service's error code if another branch of the project has the name. */
export const NAME_TAKEN = 'NAME_TAKEN';

/**
 * - `network`: no response arrived. `code` is Node's, such as `ECONNREFUSED`, `ENOTFOUND` or a certificate error.
 * - `timeout`: the response did not arrive in time.
 * - `cancelled`: by the caller, for example because a picker or the connection was closed.
 * - `invalidRequest`: nothing was sent, because an argument isn't safe to put into a request.
 */
export type ApiFault =
  | Rejected
  | UnexpectedReply
  | { readonly kind: 'network'; readonly code: string | undefined }
  | { readonly kind: 'timeout' | 'cancelled' | 'invalidRequest' };

/** The only error that the client throws. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly fault: ApiFault;
  /** Milliseconds since 1970. */
  readonly time = Date.now();
  /** Whether a change may have been made although the call failed. It is false for calls that only read. */
  readonly mayHaveExecuted: boolean;

  constructor(message: string, fault: ApiFault, options: { readonly mayHaveExecuted?: boolean } = {}) {
    super(message);
    this.fault = fault;
    this.mayHaveExecuted =
      options.mayHaveExecuted ?? (fault.kind !== 'invalidRequest' && fault.kind !== 'rejected');
  }
}

/** Returns the fault of an error from the client, or undefined for any other error. */
export const faultOf = (error: unknown): ApiFault | undefined =>
  error instanceof ApiError ? error.fault : undefined;

/** Returns the status with which the service rejected the request, if it did. */
export function statusOf(error: unknown): number | undefined {
  const fault = faultOf(error);
  return fault?.kind === 'rejected' ? fault.status : undefined;
}

/** Returns the code of the service's error, if it rejected the request and has given one. */
export function codeOf(error: unknown): string | undefined {
  const fault = faultOf(error);
  return fault?.kind === 'rejected' ? fault.code : undefined;
}

/** Whether the service rejected the request. @param statuses accept only these, if any are given */
export function isRejected(error: unknown, ...statuses: number[]): boolean {
  const status = statusOf(error);
  return status !== undefined && (statuses.length === 0 || statuses.includes(status));
}

/**
 * Whether the error means that the service doesn't offer a call which the specification doesn't promise. A 403 or 404 may
 * also be about the resource.
 */
export const isNotOffered = (error: unknown): boolean => isRejected(error, 403, 404, 405);

/** Whether the error means that the service can't change passwords, or not that of this role. */
export const isPasswordUnchangeable = (error: unknown): boolean => isRejected(error, 403, 404, 405, 412, 422);

/** Whether the service would reject the same request again: it understood the request and is neither busy nor failing. */
export function isPermanentRejection(error: unknown): boolean {
  const fault = faultOf(error);
  if (fault?.kind !== 'rejected' || fault.code === POSTGRES_MISSING) return false;
  return fault.status < 500 && ![401, 408, 423, 429].includes(fault.status);
}

/** Whether two failures look the same to the user. Each attempt fails with a new error object. */
export function isSameFailure(a: unknown, b: unknown): boolean {
  if (!(a instanceof Error) || !(b instanceof Error)) return a === b;
  if (retryTimeOf(a) !== retryTimeOf(b)) return false;
  return faultOf(a)?.kind === faultOf(b)?.kind && statusOf(a) === statusOf(b) && a.message === b.message;
}

export const isCancelled = (error: unknown): boolean => faultOf(error)?.kind === 'cancelled';

/** Whether a change was sent, but no response shows whether it was made. */
export const isOutcomeUnknown = (error: unknown): boolean =>
  error instanceof ApiError && error.mayHaveExecuted;

/** Returns the milliseconds that the service asked to wait, or undefined. */
export function retryAfterOf(error: unknown): number | undefined {
  const fault = faultOf(error);
  return fault?.kind === 'rejected' && fault.retryAfter !== undefined ? fault.retryAfter * 1000 : undefined;
}

/** Returns when the service accepts the request again, in milliseconds since 1970, if it said so. */
export function retryTimeOf(error: unknown): number | undefined {
  const wait = retryAfterOf(error);
  return wait === undefined || !(error instanceof ApiError) ? undefined : error.time + wait;
}

/** Error codes of Node and OpenSSL for an untrusted certificate. */
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_|ERR_TLS_|ERR_SSL_|INVALID_CA|HOSTNAME_MISMATCH/;

/** Whether the error is about the certificate. If so, nothing was sent, and a retry doesn't help. */
export const isCertificateCode = (code: string | undefined): boolean =>
  code !== undefined && CERTIFICATE.test(code);
