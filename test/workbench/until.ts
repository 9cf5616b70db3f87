import { setTimeout as delay } from 'node:timers/promises';

/**
 * Repeats `probe` until it gives something other than undefined or false, and returns that.
 * @param what said when nothing came within `timeoutMs`
 */
export async function until<T>(
  what: string | (() => Promise<string>),
  probe: () => Promise<T | undefined | false>,
  timeoutMs = 15_000,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const found = await probe();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > deadline) {
      const said = typeof what === 'string' ? what : await what();
      throw new Error(`Waited ${timeoutMs / 1000} s in vain for ${said}`);
    }
    await delay(50);
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
