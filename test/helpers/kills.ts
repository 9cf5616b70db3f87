/** How often a suite kills the service or Postgres: a few times in the quick run, `KILLS` times in the full one. */
export const killsOr = (quick: number): number => Number(process.env['KILLS'] ?? quick);
