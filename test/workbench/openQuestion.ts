import type { Page } from 'playwright-core';
import { QuickInput } from './quickInput.ts';

/** Returns the open prompt and dialog, for the message of a failure. Without a password. */
export async function openQuestion(page: Page): Promise<string> {
  const prompt = await new QuickInput(page).read();
  const dialog = await page.locator('.monaco-dialog-box').allInnerTexts();
  return JSON.stringify({
    prompt: prompt && { ...prompt, value: prompt.password ? '…' : prompt.value },
    dialog,
  });
}
