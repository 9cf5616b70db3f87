/** Which failures are tried again and after how long: only what is safe, and never more than the service bears. */
import type { Arrived } from './attempt.ts';
import { faultOf, type ApiError, type Fault } from './errors.ts';
import { isCertificateCode } from './networkFailure.ts';
import { retryAfterSeconds } from './retryAfter.ts';

export type Method = 'get' | 'post' | 'patch' | 'delete';

export interface RetryLimits {
  /** Further attempts after the first. */
  readonly retries: number;
  /** The longest wait between two attempts, in milliseconds. */
  readonly longestWait: number;
}

export const DEFAULT_RETRY_LIMITS: RetryLimits = { retries: 5, longestWait: 30_000 };

const FIRST_WAIT = 300;

/** Another operation on the project (423) ends sooner or later: it is worth more and steadier attempts. */
const LOCKED = { status: 423, attempts: 6, longestWait: 5000 } as const;

/** Safe to try again whatever the method: the service did nothing. */
const NOTHING_WAS_DONE: ReadonlySet<number> = new Set([LOCKED.status, 503]);

const isRetriedStatus = (method: Method, status: number): boolean =>
  NOTHING_WAS_DONE.has(status) || (method === 'get' && (status === 408 || status === 429 || status >= 500));

function isRetriedFault(method: Method, fault: Fault, arrived: boolean): boolean {
  if (fault.kind === 'network') return !isCertificateCode(fault.code) && (method === 'get' || !arrived);
  return fault.kind === 'timeout' && fault.phase !== 'total' && method === 'get';
}

/** An attempt that brought no reply. */
export interface Unanswered {
  readonly status?: undefined;
  readonly error: unknown;
}

/**
 * Milliseconds to wait before another attempt, or undefined when there must be none.
 * @param failures how many attempts of the call have failed so far
 */
export function waitBeforeRetry(
  method: Method,
  failure: Pick<Arrived, 'status' | 'headers'> | Unanswered,
  failures: number,
  limits: RetryLimits,
): number | undefined {
  const isLocked = failure.status === LOCKED.status;
  if (failures > limits.retries * (isLocked ? LOCKED.attempts : 1)) return undefined;
  if (failure.status !== undefined) {
    if (!isRetriedStatus(method, failure.status)) return undefined;
    const asked = (retryAfterSeconds(failure.headers) ?? 0) * 1000;
    // Whoever is asked to wait longer than a call may take is told so, and asks again then.
    if (asked > 0) return asked <= limits.longestWait ? asked : undefined;
  } else {
    const fault = faultOf(failure.error);
    if (fault === undefined || !isRetriedFault(method, fault, (failure.error as ApiError).arrived))
      return undefined;
  }
  const longest = isLocked ? Math.min(limits.longestWait, LOCKED.longestWait) : limits.longestWait;
  // Jitter keeps several windows, which fail at the same moment, from asking again at the same moment.
  return Math.min(longest, FIRST_WAIT * 2 ** (failures - 1)) * (0.75 + Math.random() * 0.25);
}
