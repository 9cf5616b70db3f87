import type { Locator, Page } from 'playwright-core';
import type { PageElement } from './pageElement.ts';
import { came, matches, until } from './until.ts';

export interface ShownNotification {
  readonly severity: 'error' | 'warning' | 'info';
  readonly message: string;
  readonly buttons: readonly string[];
}

/** Milliseconds: what comes just as the empty centre closes is not new to the bell. */
const LOOK_EVERY = 1_000;

/** The notification centre. The test driver keeps toasts away, so here is where notifications are read. */
export class Notifications {
  readonly #bell: Locator;
  readonly #newOnes: Locator;
  readonly #centre: Locator;

  constructor(page: Page) {
    this.#bell = page.locator('[id="status.notifications"]');
    this.#newOnes = this.#bell.locator('.codicon-bell-dot');
    this.#centre = page.locator('.notifications-center');
  }

  /** Opens the centre and returns what it holds, the newest first. */
  async all(): Promise<ShownNotification[]> {
    return (await this.#open()) ? this.#read() : [];
  }

  /** Waits for a notification whose message holds, or matches, what is given. */
  async waitFor(message: string | RegExp, timeoutMs?: number): Promise<ShownNotification> {
    let seen: readonly ShownNotification[] = [];
    let lookAt = 0;
    return until(
      async () => `the notification ${String(message)}; there is ${JSON.stringify(seen)}`,
      async () => {
        const isTime = Date.now() >= lookAt || (await this.#centre.isVisible());
        if (isTime || (await this.#newOnes.isVisible())) {
          seen = await this.all();
          lookAt = Date.now() + LOOK_EVERY;
        }
        return seen.find((each) => matches(each.message, message));
      },
      timeoutMs,
    );
  }

  /** Clicks a button of the notification. */
  async press(message: string | RegExp, button: string): Promise<void> {
    await this.waitFor(message);
    const row = this.#centre.locator('.monaco-list-row').filter({ hasText: message }).first();
    await row.hover();
    await row.locator('.monaco-button').getByText(button, { exact: true }).click();
  }

  /** Removes all notifications and closes the centre. */
  async clear(): Promise<void> {
    if (!(await this.#open())) return;
    const button = this.#centre.getByRole('button', { name: 'Clear All Notifications' });
    await until('the notifications to go', async () => {
      if (await this.#centre.isVisible()) await button.click({ timeout: 1_000 }).catch(() => undefined);
      return !(await this.#centre.isVisible());
    });
  }

  /**
   * Opens the centre by the bell. @returns false when it is empty, and then it is closed again: an empty one keeps
   * what comes next on screen even after that was cleared.
   */
  async #open(): Promise<boolean> {
    if (await this.#centre.isVisible()) return true;
    await this.#ring('visible');
    if (!(await this.#centre.getByText('No New Notifications').isVisible())) return true;
    await this.#ring('hidden');
    return false;
  }

  /** A window that is still busy loses the click. */
  async #ring(state: 'visible' | 'hidden'): Promise<void> {
    await until(`the notifications to be ${state}`, async () => {
      if ((await this.#centre.isVisible()) === (state === 'visible')) return true;
      await this.#bell.click();
      return came(this.#centre.waitFor({ state, timeout: 2_000 }));
    });
  }

  async #read(): Promise<ShownNotification[]> {
    return this.#centre.locator('.monaco-list-row').evaluateAll((rows: PageElement[]) =>
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
