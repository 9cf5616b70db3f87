/** Which failed calls are sent again and after how long: only where that is safe, and never more than the service bears. */
import { faultOf, type ApiError } from '../errors.ts';
import { isCertificateCode } from './networkFailure.ts';

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

/** Worth another attempt: the service was too busy, or what failed was on the way to it. */
const isPassing = (status: number): boolean =>
  status === LOCKED.status || status === 429 || status === 408 || (status >= 500 && status <= 599);

/** Another attempt at a change is made only for these, which the service sends before it does anything. */
const isRetriedChange = (status: number): boolean =>
  status === LOCKED.status || status === 429 || status === 503;

/** Whether another attempt may succeed and does nothing twice. */
function isRetried(error: ApiError, isChange: boolean): boolean {
  const { fault, mayHaveExecuted } = error;
  if (isChange && mayHaveExecuted) return false;
  if (fault.kind === 'refused') return isChange ? isRetriedChange(fault.status) : isPassing(fault.status);
  if (fault.kind === 'network') return !isCertificateCode(fault.code);
  return fault.kind === 'timeout' && fault.phase !== 'total' && !isChange;
}

/**
 * Milliseconds to wait before another attempt, or undefined when there must be none.
 * @param error what the last attempt threw
 * @param failures how many attempts of the call have failed so far
 */
export function retryDelay(
  error: unknown,
  isChange: boolean,
  failures: number,
  limits: RetryLimits,
): number | undefined {
  const fault = faultOf(error);
  if (fault === undefined || !isRetried(error as ApiError, isChange)) return undefined;
  const { status, retryAfter = 0 } = fault.kind === 'refused' ? fault : {};
  const isLocked = status === LOCKED.status;
  if (failures > limits.retries * (isLocked ? LOCKED.attempts : 1)) return undefined;
  const asked = retryAfter * 1000;
  // A caller that is asked to wait longer than a call may take gets the error, and can call again then.
  if (asked > 0) return asked <= limits.longestWait ? asked : undefined;
  const longest = isLocked ? Math.min(limits.longestWait, LOCKED.longestWait) : limits.longestWait;
  // Jitter keeps several windows, which fail at the same moment, from asking again at the same moment.
  return Math.min(longest, FIRST_WAIT * 2 ** (failures - 1)) * (0.75 + Math.random() * 0.25);
}
