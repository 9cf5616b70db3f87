import type { Locator, Page } from 'playwright-core';
import { openQuestion } from './openQuestion.ts';
import type { PageElement } from './pageElement.ts';
import { matches, until } from './until.ts';

export interface ShownNotification {
  readonly severity: 'error' | 'warning' | 'info';
  readonly message: string;
  readonly buttons: readonly string[];
}

/** Milliseconds. */
const SHOWN_WITHIN = 10_000;
const CLICKED_WITHIN = 2000;
/**
 * Milliseconds until the center is opened although the bell has no dot. VS Code counts unread notifications: one that arrives
 * just before the center closes isn't counted, and the end of an older one, such as a progress, reduces the count.
 */
const LOOK_AGAIN = 5000;
/**
 * About VS Code's own extensions. On a slow machine, their progress can appear at any time after a window has opened,
 * and they can fail after a reload.
 */
const ABOUT_OTHERS = /^Activating (Extensions\.\.\.$|extension 'vscode\.)/;

/** The notification center. The test driver hides toasts, so notifications are read here. */
export class Notifications {
  readonly #page: Page;
  readonly #bell: Locator;
  readonly #unread: Locator;
  readonly #center: Locator;

  constructor(page: Page) {
    this.#page = page;
    this.#bell = page.locator('[id="status.notifications"]');
    this.#unread = this.#bell.locator('.codicon-bell-dot');
    this.#center = page.locator('.notifications-center');
  }

  /** Opens the center and returns its notifications, newest first, without those about VS Code's own extensions. */
  async all(): Promise<ShownNotification[]> {
    if (!(await this.#open())) return [];
    return (await this.#read()).filter(({ message }) => !ABOUT_OTHERS.test(message));
  }

  /** Waits for a notification whose message contains the string or matches the expression. */
  async waitFor(message: string | RegExp): Promise<ShownNotification> {
    let seen: readonly ShownNotification[] = [];
    let lookedAt = performance.now();
    return until(
      async () =>
        `the notification ${String(message)}; shown: ${JSON.stringify(seen)}, ${await openQuestion(this.#page)}`,
      async () => {
        const isLikely = (await this.#center.isVisible()) || (await this.#unread.isVisible());
        if (!isLikely && performance.now() - lookedAt < LOOK_AGAIN) return undefined;
        seen = await this.all();
        lookedAt = performance.now();
        return seen.find((each) => matches(each.message, message));
      },
    );
  }

  /** Clicks a button of a notification, waits until the notification is gone, and closes the center. */
  async press(message: string | RegExp, button: string): Promise<void> {
    await this.waitFor(message);
    const row = this.#center.locator('.monaco-list-row').filter({ hasText: message }).first();
    await row.hover();
    await row.locator('.monaco-button').getByText(button, { exact: true }).click();
    await row.waitFor({ state: 'hidden' });
    // It closes by itself only with its last notification. While it is open, Escape closes it instead of a prompt.
    if (await this.#center.isVisible()) await this.#closeWith('Hide Notifications');
  }

  /** Removes all notifications and closes the center. */
  async clear(): Promise<void> {
    if (await this.#open()) await this.#closeWith('Clear All Notifications');
  }

  async #closeWith(button: string): Promise<void> {
    const action = this.#center.getByRole('button', { name: button });
    await until('the notification center to close', async () => {
      if (!(await this.#center.isVisible())) return true;
      // It also closes by itself with its last notification, even just before the click.
      await action.dispatchEvent('click', {}, { timeout: CLICKED_WITHIN }).catch(() => undefined);
      return undefined;
    });
  }

  /**
   * Opens the center by its bell. Closes it again and returns false if it is empty: an open empty center would keep
   * the next notification on screen even after it was cleared.
   */
  async #open(): Promise<boolean> {
    if (await this.#center.isVisible()) return true;
    // A mouse click would be lost if the status bar, which inserts all items again when one comes or goes, did so between
    // the press and the release of the button.
    await this.#bell.locator('.statusbar-item-label').dispatchEvent('click');
    // It closes again when its last notification goes, such as a progress that ends. That may be too quick to be seen.
    const isOpen = this.#center.waitFor({ timeout: SHOWN_WITHIN }).then(
      () => true,
      () => false,
    );
    if (!(await isOpen)) return false;
    if (!(await this.#center.getByText('No New Notifications').isVisible())) return true;
    // A click on its bell would open it again if it closed by itself just before.
    await this.#closeWith('Hide Notifications');
    return false;
  }

  async #read(): Promise<ShownNotification[]> {
    return this.#center.locator('.monaco-list-row').evaluateAll((rows: PageElement[]) =>
      rows.map((row) => {
        const icon = row.querySelector('.notification-list-item-icon')?.className ?? '';
        return {
          severity: icon.includes('error') ? 'error' : icon.includes('warning') ? 'warning' : 'info',
          message: row.querySelector('.notification-list-item-message')?.textContent ?? '',
          buttons: [...row.querySelectorAll('.monaco-button')].map((button) => button.textContent ?? ''),
        };
      }),
    );
  }
}
