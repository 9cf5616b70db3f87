import { syncBuiltinESMExports } from 'node:module';
import { mock } from 'node:test';

/**
 * While `run` runs, each `setTimeout` waits for `mock.timers.tick`, also one imported from `node:timers/promises`, so `until`
 * doesn't work.
 */
export async function withMockedTimeouts<T>(run: () => Promise<T>): Promise<T> {
  mock.timers.enable({ apis: ['setTimeout'] });
  syncBuiltinESMExports();
  try {
    return await run();
  } finally {
    mock.timers.reset();
    syncBuiltinESMExports();
  }
}
