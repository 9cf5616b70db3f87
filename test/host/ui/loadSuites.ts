import type { SharedWindow } from './sharedWindows.ts';
import { openSharedWith } from './useWorkbench.ts';

/** Loads the suites of a window in their order; mocha does not know one file from another then. */
export async function loadSuites({ options, suites }: SharedWindow): Promise<void> {
  openSharedWith(options);
  for (const name of suites) await import(`./${name}.test.ts`);
}
