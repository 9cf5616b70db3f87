import type { Locator, Page } from 'playwright-core';
import { until } from './until.ts';

/** The terminal in front. Its text is in the page only without a GPU: see READABLE_TERMINALS. */
export class Terminal {
  readonly #page: Page;
  readonly #root: Locator;

  constructor(page: Page) {
    this.#page = page;
    this.#root = page.locator('.terminal-wrapper.active');
  }

  async waitFor(text: RegExp): Promise<void> {
    await until(`${String(text)} in the terminal`, async () =>
      (await this.#root.locator('.xterm-rows').allInnerTexts()).some((rows) =>
        text.test(rows.replaceAll('\u00a0', ' ')),
      ),
    );
  }

  /** A list that closes can give the keyboard focus back to the view from which it was opened. */
  async type(text: string): Promise<void> {
    await this.focus();
    await this.#page.keyboard.type(text);
  }

  async focus(): Promise<void> {
    await this.#root.click();
    await this.#root.locator('.xterm.focus').waitFor();
  }

  async closed(): Promise<void> {
    await this.#root.waitFor({ state: 'hidden' });
  }
}
