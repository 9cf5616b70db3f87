/** An autosuspend delay as users write it: `90 s`, `20 min`, `3 h`, `2 days`. */
import { AUTOSUSPEND_MAX_SECONDS, AUTOSUSPEND_MIN_SECONDS } from '../../api/records/autosuspend.ts';

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 60 * 60, d: 24 * 60 * 60 };

/** The first letter of a unit identifies it. */
const DELAY = /^(\d{1,7}(?:[.,]\d{1,3})?)\s*(s|secs?|seconds?|m|min|mins|minutes?|h|hours?|d|days?)?$/i;

export type Delay =
  | { readonly seconds: number }
  /** Outside one minute to seven days (section 8). */
  | { readonly problem: 'tooShort' | 'tooLong' };

/** A number without a unit is minutes. @returns undefined if the text is not a delay */
export function parseDelay(text: string): Delay | undefined {
  const [, amount, unit = 'm'] = DELAY.exec(text.trim()) ?? [];
  const factor = SECONDS[unit.charAt(0).toLowerCase()];
  if (amount === undefined || factor === undefined) return undefined;
  const seconds = Math.round(Number(amount.replace(',', '.')) * factor);
  if (seconds < AUTOSUSPEND_MIN_SECONDS) return { problem: 'tooShort' };
  return seconds > AUTOSUSPEND_MAX_SECONDS ? { problem: 'tooLong' } : { seconds };
}
