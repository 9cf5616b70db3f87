import type { Locator, Page } from 'playwright-core';
import type { QuickInput } from './quickInput.ts';
import type { PageElement } from './pageElement.ts';
import { matches, until } from './until.ts';

export interface ShownNotification {
  readonly severity: 'error' | 'warning' | 'info';
  readonly message: string;
  readonly buttons: readonly string[];
}

/** The notification centre. The test driver keeps toasts away, so here is where notifications are read. */
export class Notifications {
  readonly #quickInput: QuickInput;
  readonly #centre: Locator;

  constructor(page: Page, quickInput: QuickInput) {
    this.#quickInput = quickInput;
    this.#centre = page.locator('.notifications-center');
  }

  /** Opens the centre and returns what it holds, the newest first. */
  async all(): Promise<ShownNotification[]> {
    await this.#open();
    return this.#read();
  }

  /** Waits for a notification whose message holds, or matches, what is given. */
  async waitFor(message: string | RegExp, timeoutMs?: number): Promise<ShownNotification> {
    await this.#open();
    return until(
      async () => `the notification ${String(message)}; there is ${JSON.stringify(await this.#read())}`,
      async () => (await this.#read()).find((each) => matches(each.message, message)),
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
    await this.#quickInput.runCommand('Notifications: Clear All Notifications');
    await this.#centre.waitFor({ state: 'hidden' });
  }

  async #open(): Promise<void> {
    if (await this.#centre.isVisible()) return;
    await this.#quickInput.runCommand('Notifications: Show Notifications');
    await this.#centre.waitFor();
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
