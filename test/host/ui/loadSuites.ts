import type { SharedWindow } from './sharedWindows.ts';
import { setSharedOptions } from './useWorkbench.ts';

/** Loads the suites of a window in order. To mocha, they are one file. */
export async function loadSuites({ options, suites }: SharedWindow): Promise<void> {
  setSharedOptions(options?.());
  for (const name of suites) await import(`./${name}.test.ts`);
}
