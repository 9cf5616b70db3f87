import { setTimeout as delay } from 'node:timers/promises';

/** Milliseconds. What comes soon is seen soon, and long waits leave the machine to what is waited for. */
const SHORTEST_PAUSE = 20;
const LONGEST_PAUSE = 200;

/**
 * Repeats `probe` until it gives something other than undefined or false, and returns that.
 * @param what said when nothing came within `timeoutMs`
 */
export async function until<T>(
  what: string | (() => Promise<string>),
  probe: () => Promise<T | undefined | false>,
  timeoutMs = 30_000,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (let pause = SHORTEST_PAUSE; ; pause = Math.min(pause * 1.5, LONGEST_PAUSE)) {
    const found = await probe();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > deadline) {
      const said = typeof what === 'string' ? what : await what();
      throw new Error(`Waited ${timeoutMs / 1000} s in vain for ${said}`);
    }
    await delay(pause);
  }
}

/** Whether it came about, in its own time. For what is tried again when it did not. */
export const came = (effect: Promise<unknown>): Promise<boolean> =>
  effect.then(
    () => true,
    () => false,
  );

/** Whether `text` is what was asked for: it holds the string, or matches the expression. */
export function matches(text: string, asked: string | RegExp): boolean {
  return typeof asked === 'string' ? text.includes(asked) : asked.test(text);
}
