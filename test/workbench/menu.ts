import type { Locator, Page } from 'playwright-core';

/** Opens the context menu of an element. */
export async function openMenu(page: Page, target: Locator): Promise<void> {
  await target.click({ button: 'right' });
  await items(page).first().waitFor();
}

/** Chooses an item of the open menu, by its whole title. */
export async function chooseMenuItem(page: Page, title: string): Promise<void> {
  const item = items(page).filter({ has: page.getByText(title, { exact: true }) });
  await item.hover();
  // A menu ignores clicks for its first 100 ms, but not the keyboard.
  await item.and(page.locator('.focused')).waitFor();
  await page.keyboard.press('Enter');
  await item.waitFor({ state: 'hidden' });
}

/** Returns the titles of the open menu and closes it. */
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
