/** The header Retry-After in both of its forms: seconds, or a date. */
import type { ReplyHeaders } from './transport.ts';

/** Seconds; whoever is told to wait longer asks again after this. It also keeps timers within what they can hold. */
export const LONGEST_RETRY_AFTER = 3600;

/** @returns seconds from now, from 0 to {@link LONGEST_RETRY_AFTER}; undefined when the header is missing or unreadable */
export function parseRetryAfter(headers: ReplyHeaders): number | undefined {
  const text = headers.get('retry-after')?.trim() ?? '';
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) : secondsUntil(text, headers);
  return seconds === undefined ? undefined : Math.min(Math.max(seconds, 0), LONGEST_RETRY_AFTER);
}

/** Measured by the service's own clock where it tells it: this machine's may be wrong. */
function secondsUntil(date: string, headers: ReplyHeaders): number | undefined {
  const then = /^[A-Z][a-z]{2}/.test(date) ? Date.parse(date) : Number.NaN;
  if (Number.isNaN(then)) return undefined;
  const told = Date.parse(headers.get('date') ?? '');
  return Math.ceil((then - (Number.isNaN(told) ? Date.now() : told)) / 1000);
}
