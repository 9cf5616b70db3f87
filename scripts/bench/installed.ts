/** The first query of a new user of the package, compared with doing the same manually with the Postgres of the package. */
import { installedPackage } from '../package/installedPackage.ts';
import { whyNotIsolated } from '../package/isolation.ts';
import { comparison, medianRatio, ms, type Result } from './result.ts';

const TRIES = 3;
const GOAL = 2.5;
/** A user reads the welcome text before the click. Milliseconds. */
const PAUSE = '5000';

export async function measure(): Promise<readonly Result[]> {
  const why = whyNotIsolated();
  if (why !== undefined) throw new Error(`The row installed ${why}`);
  const installed = await installedPackage();
  try {
    return (['user', 'root'] as const).map((as) => {
      const tries = Array.from({ length: TRIES }, () => installed.try(as, PAUSE));
      const pairs = { ours: tries.map(({ click }) => click), baseline: tries.map(({ manual }) => manual) };
      return comparison(pairs, {
        what: `installed, ${as}`,
        unit: ms,
        baseline: 'initdb, start, query',
        goal: `≤ ${GOAL} ×`,
        met: medianRatio(pairs) <= GOAL,
        note: `from the click, 5 s after the view opened, to the first answer; medians of ${TRIES} new users`,
      });
    });
  } finally {
    installed.remove();
  }
}
