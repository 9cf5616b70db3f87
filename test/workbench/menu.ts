import { errors, type Locator, type Page } from 'playwright-core';
import type { PageElement } from './pageElement.ts';
import { giveInput } from './steadyInput.ts';
import { until } from './until.ts';

const SUBMENU = '.monaco-submenu';
/** Milliseconds in which a menu is drawn, unless it was closed. */
const SHOWN_WITHIN = 5000;

interface TimeLimit {
  readonly timeout: number;
}

const IN_TIME: TimeLimit = { timeout: SHOWN_WITHIN };

/** Opens the context menu of an element. */
export async function openMenu(page: Page, target: Locator): Promise<void> {
  const first = items(page).first();
  // An editor that opens late takes the keyboard focus, which closes a menu at once.
  await until('a menu', async () => {
    await target.click({ button: 'right' });
    return first.waitFor({ timeout: SHOWN_WITHIN }).then(
      () => true,
      () => false,
    );
  });
}

/**
 * Opens a menu and chooses an item by its whole title, after those of the submenus that it is in. Does so again if the menu was
 * closed by what took the focus before the key came, or if the key came while the rows of the pane were being drawn again.
 */
export async function chooseFromMenu(
  pane: Locator,
  open: () => Promise<void>,
  titles: readonly string[],
): Promise<void> {
  const page = pane.page();
  await until(`a menu with ${titles.join(' > ')}`, async () => {
    await open();
    const isChosen = await chooseItem(pane, titles).catch((error: unknown) => {
      if (error instanceof errors.TimeoutError) return false;
      throw error;
    });
    if (!isChosen && (await items(page).first().isVisible())) await page.keyboard.press('Escape');
    return isChosen;
  });
}

/** @returns whether the menu had the key. @throws {errors.TimeoutError} if the menu has closed before */
async function chooseItem(pane: Locator, titles: readonly string[]): Promise<boolean> {
  const page = pane.page();
  for (const submenu of titles.slice(0, -1)) await openSubmenu(page, submenu, IN_TIME);
  // A submenu is inside the item that opened it.
  const item = itemOf(page, titles.at(-1) ?? '').filter({ hasNot: page.locator(SUBMENU) });
  await focus(page, item, IN_TIME);
  const isChosen = await giveInput(pane, 'keydown', '.monaco-menu', () => page.keyboard.press('Enter'));
  if (isChosen) await item.waitFor({ state: 'hidden' });
  return isChosen;
}

/** VS Code also opens it by itself, 250 ms after the pointer has come to rest on its item. */
async function openSubmenu(page: Page, title: string, limit?: TimeLimit): Promise<void> {
  await focus(page, itemOf(page, title), limit);
  await page.keyboard.press('Enter');
  await page.locator(`${SUBMENU} .action-item`).first().waitFor(limit);
}

/** A menu ignores clicks for its first 100 ms, but not the keyboard. */
async function focus(page: Page, item: Locator, limit?: TimeLimit): Promise<void> {
  await item.hover(limit);
  await item.and(page.locator('.focused')).waitFor(limit);
}

function itemOf(page: Page, title: string): Locator {
  return items(page).filter({ has: page.getByText(title, { exact: true }) });
}

/** Returns the titles of the open menu, or of one of its submenus, and closes it. */
export async function readMenu(page: Page, submenu?: string): Promise<string[]> {
  await items(page).first().waitFor();
  if (submenu !== undefined) await openSubmenu(page, submenu);
  const shown = submenu === undefined ? items(page) : page.locator(`${SUBMENU} .action-item`);
  const titles = await shown.locator('.action-label:not(.separator)').allInnerTexts();
  if (submenu !== undefined) {
    // VS Code opens a submenu again 250 ms after the pointer has come to rest on its item, unless it has left the menu.
    await page.mouse.move(0, 0);
    await page.keyboard.press('Escape');
    await page.locator(SUBMENU).waitFor({ state: 'hidden' });
  }
  await page.keyboard.press('Escape');
  await items(page).first().waitFor({ state: 'hidden' });
  return titles.map((title) => title.trim());
}

/** Returns the keys of the open menu by the titles of its items, and closes it. */
export async function readMenuKeys(page: Page): Promise<Readonly<Record<string, string>>> {
  await items(page).first().waitFor();
  const keys = await items(page).evaluateAll((all: PageElement[]) =>
    all.map((item) => [
      item.querySelector('.action-label')?.textContent?.trim() ?? '',
      item.querySelector('.keybinding')?.textContent ?? '',
    ]),
  );
  await page.keyboard.press('Escape');
  await items(page).first().waitFor({ state: 'hidden' });
  return Object.fromEntries(keys);
}

function items(page: Page): Locator {
  return page.locator('.monaco-menu .action-item');
}
