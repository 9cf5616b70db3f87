/**
 * The autosuspend delay in seconds: `0` is the service's default, `-1` is never, and any other delay
 * is from one minute to seven days.
 */

export const AUTOSUSPEND_DEFAULT = 0;
export const AUTOSUSPEND_NEVER = -1;
const AUTOSUSPEND_DEFAULT_SECONDS = 300;
export const AUTOSUSPEND_MIN_SECONDS = 60;
export const AUTOSUSPEND_MAX_SECONDS = 7 * 24 * 60 * 60;

export const isAutosuspendDelay = (seconds: number): boolean =>
  seconds === AUTOSUSPEND_DEFAULT ||
  seconds === AUTOSUSPEND_NEVER ||
  (Number.isInteger(seconds) && seconds >= AUTOSUSPEND_MIN_SECONDS && seconds <= AUTOSUSPEND_MAX_SECONDS);

/** Returns the seconds without activity until the compute is suspended, or undefined if it never is. */
export function autosuspendSeconds(delay: number | undefined): number | undefined {
  if (delay === AUTOSUSPEND_NEVER) return undefined;
  return delay === undefined || delay === AUTOSUSPEND_DEFAULT ? AUTOSUSPEND_DEFAULT_SECONDS : delay;
}
