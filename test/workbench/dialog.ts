import type { Locator, Page } from 'playwright-core';

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

  /** Clicks the button with exactly this label and waits until the dialog closes. */
  async press(label: string): Promise<void> {
    await this.#buttons().getByText(label, { exact: true }).click();
    await this.#box.waitFor({ state: 'hidden' });
  }

  #buttons(): Locator {
    return this.#box.locator('.dialog-buttons .monaco-button');
  }
}
