import type { Locator, Page } from 'playwright-core';
import { until } from './until.ts';

export interface DialogContent {
  readonly message: string;
  readonly detail: string;
  readonly buttons: readonly string[];
}

/** The modal dialog of a window. */
export class Dialog {
  readonly #box: Locator;

  constructor(page: Page) {
    this.#box = page.locator('.monaco-dialog-box');
  }

  /** Waits for a dialog and returns its content. */
  async read(): Promise<DialogContent> {
    await this.#box.waitFor();
    const detail = this.#box.locator('.dialog-message-detail');
    return {
      message: (await this.#box.locator('.dialog-message-text').innerText()).trim(),
      detail: (await detail.isVisible()) ? (await detail.innerText()).trim() : '',
      buttons: await this.#buttons().allInnerTexts(),
    };
  }

  /** Clicks the button with exactly this label and waits until the dialog closes. Another one may open at once. */
  async press(label: string): Promise<void> {
    const message = this.#box.locator('.dialog-message-text');
    const before = await message.innerText();
    await this.#buttons().getByText(label, { exact: true }).click();
    await until('the dialog to close', async () => (await message.allInnerTexts())[0] !== before);
  }

  #buttons(): Locator {
    return this.#box.locator('.dialog-buttons .monaco-button');
  }
}
