import type { Locator, Page } from 'playwright-core';
import { succeeds, until } from './until.ts';

/** Opens the context menu of an element. Clicks again if the click was lost because a row was redrawn at that moment. */
export async function openMenu(page: Page, target: Locator): Promise<void> {
  // A second click would close a menu that opens slowly, so each attempt waits longer.
  let timeout = 1_000;
  await until('the context menu', async () => {
    await succeeds(target.click({ button: 'right', timeout: 5_000 }));
    timeout *= 2;
    return succeeds(items(page).first().waitFor({ timeout }));
  });
}

/** Clicks an item of the open menu, by its whole title. */
export async function clickMenuItem(page: Page, title: string): Promise<void> {
  const item = items(page).getByText(title, { exact: true });
  await item.waitFor();
  // A menu ignores the mouse for its first 100 ms, so the click is repeated until the menu closes.
  await until(`the menu to close after a click on ${title}`, async () => {
    if (!(await item.isVisible())) return true;
    await item.click({ timeout: 1_000 }).catch(() => undefined);
    return !(await item.isVisible());
  });
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
