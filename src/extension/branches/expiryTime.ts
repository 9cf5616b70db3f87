/** When a branch or snapshot expires. */

/** Seconds after which a branch that was created for a git branch expires, unless it is used. */
export const GIT_BRANCH_LIFETIME = 7 * 24 * 60 * 60;

/** @param lifetime seconds from now. @returns a time without fractions of a second, because the service rejects those */
export const expiryAfter = (lifetime: number, now = Date.now()): string =>
  new Date(now + lifetime * 1000).toISOString().replace(/\.\d+/, '');

/** Whether less than half of the lifetime of a branch for a git branch is left. An expired branch can't be renewed. */
export function needsRenewal(expiresAt: string, now = Date.now()): boolean {
  const left = (Date.parse(expiresAt) - now) / 1000;
  return left > 0 && left < GIT_BRANCH_LIFETIME / 2;
}
