import type { Locator, Page } from 'playwright-core';
import type { PageElement } from './pageElement.ts';
import { matches, until } from './until.ts';

export interface StatusBarItem {
  /** The extension's id, a dot, and the item's own id. */
  readonly id: string;
  readonly text: string;
  readonly label: string;
  /** Whether an icon of it turns. */
  readonly spinning: boolean;
}

/** The bar at the bottom of the window. */
export class StatusBar {
  readonly #items: Locator;

  constructor(page: Page) {
    this.#items = page.locator('.part.statusbar .statusbar-item');
  }

  /** The items shown, from the left; of one extension when its id is given. */
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

  /** Waits for an item whose text or accessible label holds, or matches, what is given. */
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
