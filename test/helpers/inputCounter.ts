import type { Page } from 'playwright-core';

/**
 * Runs in the page. A modifier key counts with the key that it is held for, and the letters of entered texts don't count, nor do
 * clicks without a press of the mouse, with which the driver opens and closes lists. What the driver keeps doesn't get to the body.
 */
const START = `(() => {
  globalThis.inputSteps = 0;
  if (globalThis.countInput !== undefined) return;
  globalThis.countInput = (event) => {
    if (['Shift', 'Control', 'Alt', 'Meta'].includes(event.key)) return;
    if (event.type === 'click' && event.detail === 0) return;
    const isLetter = event.key?.length === 1 && !event.ctrlKey && !event.metaKey;
    if (!isLetter) globalThis.inputSteps += 1;
  };
  for (const type of ['click', 'contextmenu', 'keydown']) document.body.addEventListener(type, globalThis.countInput, true);
})()`;

/** Counts the clicks, keys and key combinations that reach the page while `task` runs. */
export async function countInput(page: Page, task: () => Promise<void>): Promise<number> {
  await page.evaluate(START);
  await task();
  return page.evaluate<number>('globalThis.inputSteps');
}
