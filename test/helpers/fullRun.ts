/** `npm run test:all` runs everything and sets FULL_RUN. `npm test` repeats less in suites that repeat. */
const isFullRun = process.env['FULL_RUN'] === '1';

/** How often a suite repeats what must never fail, such as a kill at a random moment. */
export const roundsOf = (quick: number, full = 50): number => (isFullRun ? full : quick);
