/** Closes what tests, suites and their hooks have opened, last first. `test/contract/hooks.ts` opens and ends the scopes. */
import type { Suite } from 'mocha';

const scopes: (() => unknown)[][] = [];

/** A scope also ends those in it that a failed hook has left open. */
export function createScope(): { begin: () => void; end: () => Promise<void> } {
  let depth = 0;
  return {
    begin() {
      depth = scopes.length;
      scopes.push([]);
    },
    async end() {
      for (const close of scopes.splice(depth).flat().toReversed()) await close();
    },
  };
}

/** What the `before` hooks of a suite open ends after its `after` hooks. */
export function addScopes(suite: Suite): void {
  suite.suites.forEach(addScopes);
  const hooks = suite['_beforeAll'];
  if (hooks.length === 0) return;
  const { begin, end } = createScope();
  suite.beforeAll(begin);
  // It must be before the hooks of the suite, and mocha can only append.
  hooks.unshift(...hooks.splice(-1));
  suite.afterAll(end);
}

/** In a `before` hook: at the end of the suite. Does nothing without mocha: then the caller closes it. */
export const atEndOfTest = (close: () => unknown): void => void scopes.at(-1)?.push(close);
