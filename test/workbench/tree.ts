import type { Locator, Page } from 'playwright-core';
import type { PageElement } from './pageElement.ts';
import { came, until } from './until.ts';
import { clickMenuItem, openMenu, readMenu } from './menu.ts';

/** One visible row, as a screen reader is told of it. */
export interface TreeRow {
  readonly label: string;
  /** 1 for the roots. */
  readonly level: number;
  /** undefined for a leaf. */
  readonly expanded: boolean | undefined;
}

/** The tree of one view; rows are found by their accessible label: exactly, or by an expression. */
export class Tree {
  readonly #page: Page;
  readonly #root: Locator;
  readonly #name: string;

  /** @param name the view's name, as "Computes" */
  constructor(page: Page, name: string) {
    this.#page = page;
    this.#name = name;
    this.#root = page.locator(`.pane-body [role="tree"][aria-label="${name}"]`);
  }

  /** The rows now on screen, from the top. */
  async rows(): Promise<TreeRow[]> {
    const rows = await this.#root.evaluateAll(([tree]: PageElement[]) => {
      if (tree === undefined) return [];
      return [...tree.querySelectorAll('.monaco-list-rows > [role="treeitem"]')].map((row) => ({
        index: Number(row.getAttribute('data-index')),
        label: row.getAttribute('aria-label') ?? '',
        level: Number(row.getAttribute('aria-level')),
        expanded: row.getAttribute('aria-expanded'),
      }));
    });
    return rows
      .toSorted((one, other) => one.index - other.index)
      .map(({ label, level, expanded }) => ({
        label,
        level,
        expanded: expanded === null ? undefined : expanded === 'true',
      }));
  }

  /** Waits for a row, scrolling down to it when the tree is higher than its view. */
  async waitFor(label: string | RegExp, timeoutMs?: number): Promise<TreeRow> {
    return until(
      async () => `the row ${String(label)} in ${this.#name}; it shows ${await this.#shown()}`,
      async () => {
        const found = (await this.rows()).find((row) => isLabel(row.label, label));
        if (found === undefined) await this.#scroll();
        return found;
      },
      timeoutMs,
    );
  }

  /** Waits until no row on screen has the label. */
  async waitUntilGone(label: string | RegExp, timeoutMs?: number): Promise<void> {
    await until(
      `the row ${String(label)} in ${this.#name} to go`,
      async () => !(await this.rows()).some((row) => isLabel(row.label, label)),
      timeoutMs,
    );
  }

  async click(label: string | RegExp): Promise<void> {
    await (await this.#row(label)).click();
  }

  /** Opens a row when it is closed and waits until it is open. */
  async expand(label: string | RegExp): Promise<void> {
    await this.#turn(label, true);
  }

  async collapse(label: string | RegExp): Promise<void> {
    await this.#turn(label, false);
  }

  /** Clicks one of the buttons that a row shows under the pointer. */
  async inlineAction(label: string | RegExp, action: string): Promise<void> {
    const row = await this.#row(label);
    // A row that is drawn anew under the pointer hides them.
    await until(`${action} of ${String(label)}`, async () => {
      await came(row.hover({ timeout: 5_000 }));
      return came(row.getByRole('button', { name: action }).click({ timeout: 1_000 }));
    });
  }

  /** Clicks an item of a row's context menu. */
  async contextMenu(label: string | RegExp, item: string): Promise<void> {
    await openMenu(this.#page, await this.#row(label));
    await clickMenuItem(this.#page, item);
  }

  /** The items of a row's context menu, which is closed again. */
  async contextMenuItems(label: string | RegExp): Promise<string[]> {
    await openMenu(this.#page, await this.#row(label));
    return readMenu(this.#page);
  }

  /** What hovering over the row shows. */
  async tooltip(label: string | RegExp): Promise<string> {
    const name = (await this.#row(label)).locator('.label-name');
    const hover = this.#page.locator('.monaco-hover:visible');
    // Where the row is drawn anew under the pointer none comes, until the pointer comes again.
    return until(`the tooltip of ${String(label)}`, async () => {
      await this.#page.mouse.move(0, 0);
      await came(name.hover({ timeout: 5_000 }));
      await came(hover.first().waitFor({ timeout: 2_000 }));
      const [text] = await hover.allInnerTexts();
      return text !== 'Loading...' && text;
    });
  }

  async #turn(label: string | RegExp, expanded: boolean): Promise<void> {
    const row = await this.#row(label);
    await until(`${String(label)} to ${expanded ? 'open' : 'close'}`, async () => {
      if ((await row.getAttribute('aria-expanded')) === String(expanded)) return true;
      await came(row.locator('.monaco-tl-twistie').click({ timeout: 5_000 }));
      const turned = this.#root.locator(`[aria-expanded="${expanded}"]`).and(row);
      return came(turned.waitFor({ timeout: 1_000 }));
    });
  }

  async #row(label: string | RegExp): Promise<Locator> {
    await this.waitFor(label);
    const rows = this.#root.locator('.monaco-list-rows');
    return rows.getByRole('treeitem', { name: label, exact: true }).first();
  }

  /** One step down, or back to the top from the end. Nothing when all rows have room. */
  async #scroll(): Promise<void> {
    if (!(await this.#root.isVisible())) return;
    const view = await this.#root.boundingBox();
    const all = await this.#root.locator('.monaco-list-rows').first().boundingBox();
    if (view === null || all === null || all.height <= view.height) return;
    await this.#root.hover();
    const atEnd = all.y + all.height <= view.y + view.height + 1;
    const distance = atEnd ? -all.height : view.height / 2;
    // However far the wheel turns at once, a list moves by 50 pixels.
    for (let moved = 0; moved < Math.abs(distance); moved += 50) {
      await this.#page.mouse.wheel(0, Math.sign(distance) * 50);
    }
  }

  async #shown(): Promise<string> {
    return JSON.stringify((await this.rows()).map((row) => row.label));
  }
}

function isLabel(shown: string, wanted: string | RegExp): boolean {
  return typeof wanted === 'string' ? shown === wanted : wanted.test(shown);
}
