/** `npm run test:full`, each night and before a release, sets FULL_RUN. All other runs repeat less in suites that repeat. */
export const isFullRun = process.env['FULL_RUN'] === '1';

/** @returns how many rounds a suite makes */
export const roundsOf = (quick: number, full = 50): number => (isFullRun ? full : quick);
