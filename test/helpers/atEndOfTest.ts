/** Closes what a test and its `beforeEach` hooks have opened. `test/contract/hooks.ts` calls this around each test. */
let pending: (() => unknown)[] | undefined;

export const beginTest = (): void => void (pending = []);

export async function endTest(): Promise<void> {
  for (const close of pending?.toReversed() ?? []) await close();
  pending = undefined;
}

/** Does nothing in a `before` hook, or without mocha: then the caller closes it. */
export const atEndOfTest = (close: () => unknown): void => void pending?.push(close);
