import type { Locator, Page } from 'playwright-core';
import { came, until } from './until.ts';

/** Opens the context menu of what `target` finds; a row that is drawn anew under the pointer swallows the click. */
export async function openMenu(page: Page, target: Locator): Promise<void> {
  // Another click would close a menu that is slow to come: each time it gets longer.
  let patience = 1_000;
  await until('the context menu', async () => {
    await came(target.click({ button: 'right', timeout: 5_000 }));
    patience *= 2;
    return came(items(page).first().waitFor({ timeout: patience }));
  });
}

/** Clicks an item of the menu that is open, by its whole title. */
export async function clickMenuItem(page: Page, title: string): Promise<void> {
  const item = items(page).getByText(title, { exact: true });
  await item.waitFor();
  // For its first tenth of a second a menu ignores the mouse: the click is repeated until the menu is gone.
  await until(`the menu to close after a click on ${title}`, async () => {
    if (!(await item.isVisible())) return true;
    await item.click({ timeout: 1_000 }).catch(() => undefined);
    return !(await item.isVisible());
  });
}

/** The titles of the menu that is open, which is then closed. */
export async function readMenu(page: Page): Promise<string[]> {
  await items(page).first().waitFor();
  const titles = await items(page).locator('.action-label:not(.separator)').allInnerTexts();
  await page.keyboard.press('Escape');
  await items(page).first().waitFor({ state: 'hidden' });
  return titles.map((title) => title.trim());
}

function items(page: Page): Locator {
  return page.locator('.monaco-menu .action-item');
}
