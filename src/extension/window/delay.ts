/** Delays as users enter them: `90 s`, `20 min`, `3 h`, `2 days`. */

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 60 * 60, d: 24 * 60 * 60 };

/** The first letter of a unit identifies it. */
const DELAY = /^(\d{1,7}(?:[.,]\d{1,3})?)\s*(s|secs?|seconds?|m|min|mins|minutes?|h|hours?|d|days?)?$/i;

/** The shortest and longest delay in seconds. */
export interface DelayLimits {
  readonly min: number;
  readonly max: number;
}

type Delay = { readonly seconds: number } | { readonly problem: 'tooShort' | 'tooLong' };

/** Reads a delay such as `3 h`. A number without a unit is minutes. @returns undefined if the text is not a delay */
export function parseDelay(text: string, { min, max }: DelayLimits): Delay | undefined {
  const [, amount, unit = 'm'] = DELAY.exec(text.trim()) ?? [];
  const factor = SECONDS[unit.charAt(0).toLowerCase()];
  if (amount === undefined || factor === undefined) return undefined;
  const seconds = Math.round(Number(amount.replace(',', '.')) * factor);
  if (seconds < min) return { problem: 'tooShort' };
  return seconds > max ? { problem: 'tooLong' } : { seconds };
}
