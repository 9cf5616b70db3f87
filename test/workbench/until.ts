import { appendFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** A line of the file that TEST_WAITS_FILE names, for the report of `test/run.ts`. */
export interface Wait {
  readonly title: string;
  readonly milliseconds: number;
}

/** Milliseconds. Short pauses first, so that quick results are seen at once; longer ones later, to save CPU time. */
const SHORTEST_PAUSE = 20;
const LONGEST_PAUSE = 200;
/** Milliseconds. Only a failed test waits this long, even on a machine where a reload takes half a minute. */
export const PATIENCE = 60_000;
/** Shorter waits are not reported. */
const REPORTED_WAIT = 500;

/**
 * Repeats `probe` until it returns something other than undefined or false, and returns that.
 * @param what named in the error that is thrown after `timeoutMs`
 */
export async function until<T>(
  what: string | (() => Promise<string>),
  probe: () => Promise<T | undefined | false>,
  timeoutMs = PATIENCE,
): Promise<T> {
  const startedAt = performance.now();
  for (let pause = SHORTEST_PAUSE; ; pause = Math.min(pause * 1.5, LONGEST_PAUSE)) {
    const found = await probe();
    const waited = performance.now() - startedAt;
    if (found !== undefined && found !== false) {
      if (waited > REPORTED_WAIT) await reportWait(what, waited);
      return found;
    }
    if (waited > timeoutMs) {
      const description = typeof what === 'string' ? what : await what();
      throw new Error(`Timed out after ${timeoutMs / 1000} s waiting for ${description}`);
    }
    await delay(pause);
  }
}

async function reportWait(what: string | (() => Promise<string>), milliseconds: number): Promise<void> {
  const file = process.env.TEST_WAITS_FILE;
  if (file === undefined || file === '') return;
  // The rest of a long description says what was there instead.
  const [title = ''] = (typeof what === 'string' ? what : await what()).split(';');
  const wait: Wait = { title, milliseconds };
  appendFileSync(file, `${JSON.stringify(wait)}\n`);
}

/** Whether `text` contains the string or matches the expression. */
export function matches(text: string, expected: string | RegExp): boolean {
  return typeof expected === 'string' ? text.includes(expected) : expected.test(text);
}
