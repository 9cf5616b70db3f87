import { setTimeout as delay } from 'node:timers/promises';
import { WAIT_LIMIT } from '../limits.ts';

/** Milliseconds. Short pauses first, so that quick results are seen at once; longer ones later, to save CPU time. */
const SHORTEST_PAUSE = 2;
const LONGEST_PAUSE = 200;

/**
 * Repeats `probe` until it returns something other than undefined or false, and returns that.
 * @param what named in the error that is thrown after `timeoutMs`
 */
export async function until<T>(
  what: string | (() => Promise<string>),
  probe: () => Promise<T | undefined | false>,
  timeoutMs = WAIT_LIMIT,
): Promise<T> {
  const startedAt = performance.now();
  for (let pause = SHORTEST_PAUSE; ; pause = Math.min(pause * 1.5, LONGEST_PAUSE)) {
    const found = await probe();
    if (found !== undefined && found !== false) return found;
    if (performance.now() - startedAt > timeoutMs) {
      const description = typeof what === 'string' ? what : await what();
      throw new Error(`Timed out after ${timeoutMs / 1000} s waiting for ${description}`);
    }
    await delay(pause);
  }
}

/** Whether `text` contains the string or matches the expression. */
export function matches(text: string, expected: string | RegExp): boolean {
  return typeof expected === 'string' ? text.includes(expected) : expected.test(text);
}
