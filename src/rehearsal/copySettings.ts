/** How copies for rehearsals are named, and when they expire if they are left behind. */
import { randomBytes } from 'node:crypto';

/** The names of copies begin with this. */
export const COPY_NAME_PREFIX = 'rehearsal-';
/** Milliseconds after which the service deletes a copy that was left behind. */
const COPY_LIFETIME = 24 * 3_600_000;
/** Milliseconds after which the service deletes a copy that costs money. A longer migration can't be rehearsed there. */
export const BILLED_LIFETIME = 30 * 60_000;

/**
 * @param isBilled whether the copy is on an account, so that it may cost money
 * @returns the name of a new copy, and its lifetime in milliseconds
 */
export const copySettings = ({ isBilled }: { readonly isBilled: boolean }) => ({
  name: `${COPY_NAME_PREFIX}${randomBytes(4).toString('hex')}`,
  lifetime: isBilled ? BILLED_LIFETIME : COPY_LIFETIME,
});
