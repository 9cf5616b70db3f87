import type { Locator, Page } from 'playwright-core';
import type { PageElement } from './pageElement.ts';
import { matches, until } from './until.ts';

export interface StatusBarItem {
  /** The extension's id, a dot, and the item's id. */
  readonly id: string;
  readonly text: string;
  readonly label: string;
  /** Whether one of its icons spins. */
  readonly spinning: boolean;
}

/** The status bar of a window. */
export class StatusBar {
  readonly #items: Locator;

  constructor(page: Page) {
    this.#items = page.locator('.part.statusbar .statusbar-item');
  }

  /** Returns the visible items from left to right, or only those of one extension. */
  async items(extensionId = ''): Promise<StatusBarItem[]> {
    const all = await this.#items.evaluateAll((items: PageElement[]) =>
      items
        .filter((item) => item.style.display !== 'none')
        .map((item) => ({
          id: item.id,
          text: (item.textContent ?? '').trim(),
          label: item.getAttribute('aria-label') ?? '',
          spinning: item.querySelector('.codicon-modifier-spin') !== null,
        })),
    );
    return all.filter((item) => item.id.startsWith(extensionId));
  }

  /** Waits for an item whose text or accessible label contains the string or matches the expression. */
  async waitFor(text: string | RegExp, timeoutMs?: number): Promise<StatusBarItem> {
    return until(
      async () => `${String(text)} in the status bar; it shows ${JSON.stringify(await this.items())}`,
      () => this.#find(text),
      timeoutMs,
    );
  }

  async waitUntilGone(text: string | RegExp, timeoutMs?: number): Promise<void> {
    const gone = async () => (await this.#find(text)) === undefined;
    await until(`${String(text)} to leave the status bar`, gone, timeoutMs);
  }

  async click(text: string | RegExp): Promise<void> {
    const { id } = await this.waitFor(text);
    await this.#items
      .and(this.#items.page().locator(`[id="${id}"]`))
      .getByRole('button')
      .first()
      .click();
  }

  async #find(text: string | RegExp): Promise<StatusBarItem | undefined> {
    return (await this.items()).find((item) => matches(`${item.text}\n${item.label}`, text));
  }
}
