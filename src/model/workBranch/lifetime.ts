/** How long a branch that was created for a git branch lives without being used. */

/** Seconds. */
export const LIFETIME = 7 * 24 * 60 * 60;

/** @param lifetime seconds from now. @returns a time without fractions of a second, which the service rejects */
export const expiryAfter = (lifetime: number, now = Date.now()): string =>
  new Date(now + lifetime * 1000).toISOString().replace(/\.\d+/, '');

/** Whether less than half of it is left. A branch that has expired can't be renewed. */
export function needsRenewal(expiresAt: string, now: number): boolean {
  const left = (Date.parse(expiresAt) - now) / 1000;
  return left > 0 && left < LIFETIME / 2;
}
