/** Which failed calls are retried, and after what delay. Only calls that are safe to repeat are retried, a few times. */
import { faultOf, isCertificateCode, type ApiError } from './errors.ts';
import type { ResponseHeaders } from './request.ts';

/** How often and how fast a failed call is repeated. */
export interface RetryLimits {
  /** The most attempts after the first. A 423 gets more: see `LOCKED`. */
  readonly retries?: number | undefined;
  /** The longest wait between two attempts, in milliseconds. */
  readonly maxDelay?: number | undefined;
  /** The milliseconds between two attempts after a 423, which is then retried for as long as the call may take. */
  readonly lockedDelay?: number | undefined;
}

const FIRST_DELAY = 300;

/**
 * The status if another operation on the project is in progress. That operation will end, so there are more retries at
 * shorter intervals.
 */
const LOCKED = { status: 423, retriesFactor: 6, maxDelay: 5000 } as const;

/** Whether the status is that of an overloaded service, or of a gateway or proxy that failed. */
const isTemporary = (status: number): boolean =>
  status === LOCKED.status || status === 429 || status === 408 || (status >= 500 && status <= 599);

/** Whether the service sends the status before it makes a change, so that the change can be sent again. */
const isChangeRetried = (status: number): boolean =>
  status === LOCKED.status || status === 429 || status === 503;

/** Whether another attempt may succeed, and can't make a change twice. */
function isRetried({ fault, mayHaveExecuted }: ApiError, isChange: boolean): boolean {
  if (isChange && mayHaveExecuted) return false;
  if (fault.kind === 'rejected') return isChange ? isChangeRetried(fault.status) : isTemporary(fault.status);
  if (fault.kind === 'network') return !isCertificateCode(fault.code);
  return fault.kind === 'timeout' && !isChange;
}

/**
 * Returns the milliseconds to wait before another attempt, or undefined if there must not be one.
 * @param error what the last attempt threw
 * @param failures the number of failed attempts so far
 */
export function retryDelay(
  error: unknown,
  isChange: boolean,
  failures: number,
  { retries = 5, maxDelay = 30_000, lockedDelay }: RetryLimits,
): number | undefined {
  const fault = faultOf(error);
  if (fault === undefined || !isRetried(error as ApiError, isChange)) return undefined;
  const { status, retryAfter } = fault.kind === 'rejected' ? fault : {};
  const isLocked = status === LOCKED.status;
  if (isLocked && lockedDelay !== undefined) return lockedDelay;
  if (failures > retries * (isLocked ? LOCKED.retriesFactor : 1)) return undefined;
  // If the service asks for a longer delay, the caller gets the error.
  if (retryAfter !== undefined) return retryAfter * 1000 <= maxDelay ? retryAfter * 1000 : undefined;
  const longest = isLocked ? Math.min(maxDelay, LOCKED.maxDelay) : maxDelay;
  // Jitter spreads the retries of several windows that failed at the same moment.
  return Math.min(longest, FIRST_DELAY * 2 ** (failures - 1)) * (0.75 + Math.random() * 0.25);
}

/** The most seconds that a service may ask to wait. This also keeps delays below the maximum of a timer. */
const MAX_RETRY_AFTER = 3600;

/**
 * Reads the header Retry-After, which is a number of seconds or a date.
 * @returns seconds from now, at most {@link MAX_RETRY_AFTER}; undefined if the header is missing, malformed, 0 or in the past
 */
export function parseRetryAfter(headers: ResponseHeaders): number | undefined {
  const text = headers.get('retry-after')?.trim() ?? '';
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) : secondsUntil(text, headers);
  // Without a delay, the same request might be sent again and again.
  return seconds !== undefined && seconds > 0 ? Math.min(seconds, MAX_RETRY_AFTER) : undefined;
}

/** Uses the service's clock if the response has it, because this machine's may be wrong. */
function secondsUntil(date: string, headers: ResponseHeaders): number | undefined {
  const then = /^[A-Z][a-z]{2}/.test(date) ? Date.parse(date) : Number.NaN;
  if (Number.isNaN(then)) return undefined;
  const serviceNow = Date.parse(headers.get('date') ?? '');
  return Math.ceil((then - (Number.isNaN(serviceNow) ? Date.now() : serviceNow)) / 1000);
}
