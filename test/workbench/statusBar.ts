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

/** Runs in the page. Keeps what the extension announces, because a busy test may look when the message is gone. */
const RECORD = `(() => {
  const shown = (globalThis.announcements = []);
  const bar = document.querySelector('.part.statusbar');
  let last = {};
  const record = () => {
    const item = bar.querySelector('[id$=".announcement"]');
    const label = item?.getAttribute('aria-label') ?? '';
    if (label !== '' && (item !== last.item || label !== last.label)) shown.push({ label, at: performance.now() });
    last = { item, label };
  };
  record();
  new MutationObserver(record).observe(bar, { subtree: true, childList: true, attributes: true });
})()`;
/** Milliseconds. An older announcement belongs to an earlier action. */
const RECENT = 60_000;
/** Milliseconds until a tooltip is shown. */
const SHOWN_WITHIN = 2000;

/** The status bar of a window. */
export class StatusBar {
  readonly #page: Page;
  readonly #items: Locator;

  constructor(page: Page) {
    this.#page = page;
    this.#items = page.locator('.part.statusbar .statusbar-item');
  }

  /** To call once for each page load. */
  async recordAnnouncements(): Promise<void> {
    await this.#page.evaluate(RECORD);
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

  /**
   * Waits for an item whose text or accessible label contains the string or matches the expression. An announcement may
   * already be over; each is found once, so that one still shown is not taken for the end of the next change.
   */
  async waitFor(text: string | RegExp): Promise<StatusBarItem> {
    return until(
      async () => `${String(text)} in the status bar; it shows ${JSON.stringify(await this.items())}`,
      async () => {
        const found = await this.#find(text);
        return found?.id.endsWith('.announcement') === false ? found : this.#findAnnounced(text);
      },
    );
  }

  async waitUntilGone(text: string | RegExp): Promise<void> {
    const gone = async () => (await this.#find(text)) === undefined;
    await until(`${String(text)} to leave the status bar`, gone);
  }

  async click(text: string | RegExp): Promise<void> {
    const { id } = await this.waitFor(text);
    // A mouse click would be lost if all items were inserted again in between, because one came or went.
    await this.#items
      .and(this.#items.page().locator(`[id="${id}"]`))
      .getByRole('button')
      .first()
      .dispatchEvent('click');
  }

  /** Hovers over an item until its tooltip matches. It moves away from the pointer when an item before it changes. */
  async waitForTooltip(text: string | RegExp, expected: RegExp): Promise<void> {
    const { id } = await this.waitFor(text);
    const hover = this.#page.locator('.workbench-hover:visible');
    await until(`the tooltip ${String(expected)}`, async () => {
      await this.#page.mouse.move(0, 0);
      await hover.waitFor({ state: 'hidden' });
      await this.#page.locator(`[id="${id}"]`).hover();
      const shown = hover.filter({ hasText: expected }).first().waitFor({ timeout: SHOWN_WITHIN });
      return shown.then(
        () => true,
        () => false,
      );
    });
  }

  async #find(text: string | RegExp): Promise<StatusBarItem | undefined> {
    return (await this.items()).find((item) => matches(`${item.text}\n${item.label}`, text));
  }

  async #findAnnounced(text: string | RegExp): Promise<StatusBarItem | undefined> {
    const recent = await this.#page.evaluate<string[]>(
      `(globalThis.announcements ?? []).filter(({ at }) => performance.now() - at < ${RECENT}).map(({ label }) => label)`,
    );
    const label = recent.find((each) => matches(each, text));
    if (label === undefined) return undefined;
    await this.#takeAnnounced(label);
    return { id: 'announcement', text: label, label, spinning: false };
  }

  /** Forgets this announcement and earlier ones. */
  async #takeAnnounced(label: string): Promise<void> {
    await this.#page.evaluate((taken) => {
      const { announcements = [] } = globalThis as { announcements?: { readonly label: string }[] };
      announcements.splice(0, announcements.findIndex((each) => each.label === taken) + 1);
    }, label);
  }
}
