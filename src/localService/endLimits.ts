/** How long the steps may take by which the service ends. Who ends the service waits for all of them before killing it. */

/** The milliseconds in which running requests must end when the server is closed. */
export const CLOSING_TIME = 2_000;
/** The signals that stop PgBouncer, with their limits. It has nothing to lose, so it gets little time. */
export const POOLER_STOP_STEPS = [
  ['SIGTERM', 500],
  ['SIGKILL', 5_000],
] as const;
/**
 * The signals that stop a server, with their limits: cleanly first. One that takes longer is killed and recovers at the next start.
 */
export const POSTMASTER_STOP_STEPS = [
  ['SIGINT', 30_000],
  ['SIGQUIT', 5_000],
  ['SIGKILL', 5_000],
] as const;

/** The milliseconds of all steps. The service stops all its servers at once. */
export const LONGEST_END = [...POOLER_STOP_STEPS, ...POSTMASTER_STOP_STEPS].reduce(
  (sum, [, limit]) => sum + limit,
  CLOSING_TIME,
);
