import type { Page } from 'playwright-core';

/** What a user does with mouse and keyboard. */
interface InputCount {
  /** Clicks, keys and key combinations, without the letters of entered texts. */
  readonly steps: number;
  /** Letters of entered texts. */
  readonly letters: number;
}

/** Runs in the page. A modifier key counts with the key that it is held for. */
const START = `(() => {
  globalThis.inputCount = { steps: 0, letters: 0 };
  if (globalThis.countInput !== undefined) return;
  globalThis.countInput = (event) => {
    if (['Shift', 'Control', 'Alt', 'Meta'].includes(event.key)) return;
    const isLetter = event.key?.length === 1 && !event.ctrlKey && !event.metaKey;
    globalThis.inputCount[isLetter ? 'letters' : 'steps'] += 1;
  };
  for (const type of ['mousedown', 'keydown']) addEventListener(type, globalThis.countInput, true);
})()`;

/** Counts the events that reach the page while `task` runs. */
export async function countInput(page: Page, task: () => Promise<void>): Promise<InputCount> {
  await page.evaluate(START);
  await task();
  return page.evaluate<InputCount>('globalThis.inputCount');
}
