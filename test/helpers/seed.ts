/**
 * The seed of suites that are random: the day's, so that each day tries something else. `test/run.ts` prints it, and SEED repeats
 * a run. A seed that finds a defect becomes a fixed case of its suite.
 */
export const RANDOM_SEED = Number(process.env['SEED'] ?? seedOf(new Date()));

/** Suites count on from it, so the seeds of two days are far apart. */
function seedOf(day: Date): number {
  return Number(day.toISOString().slice(2, 10).replaceAll('-', '')) * 1000;
}
