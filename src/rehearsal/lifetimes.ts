/** When copies expire that were left behind. */

/** Milliseconds after which the service deletes a copy that was left behind. */
export const COPY_LIFETIME = 24 * 3_600_000;
/** The same where it costs. A migration that takes longer can't be rehearsed there. */
export const BILLED_LIFETIME = 30 * 60_000;
