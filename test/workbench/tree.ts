import type { Locator, Page } from 'playwright-core';
import type { PageElement } from './pageElement.ts';
import { until } from './until.ts';
import { chooseFromMenu, openMenu, readMenu, readMenuKeys } from './menu.ts';
import { giveInput } from './steadyInput.ts';

/**
 * Milliseconds after which a row without a tooltip was drawn again, and one that isn't selected wasn't hit. VS Code takes less than
 * one second for both.
 */
const DRAWN_AGAIN = 5_000;

/** The tree of one view. Rows are found by their accessible label: by the whole label or by an expression. */
export class Tree {
  readonly #page: Page;
  readonly #root: Locator;
  readonly #pane: Locator;
  readonly #name: string;

  /** @param name the view's name, such as "Computes" */
  constructor(page: Page, name: string) {
    this.#page = page;
    this.#name = name;
    this.#root = page.locator(`.pane-body [role="tree"][aria-label="${name}"]`);
    this.#pane = page.locator('.pane').filter({ has: this.#root });
  }

  /** Returns the labels of the rows on screen, from top to bottom. */
  async labels(): Promise<string[]> {
    const rows = await this.#root.evaluateAll(([tree]: PageElement[]) =>
      [...(tree?.querySelectorAll('.monaco-list-rows > [role="treeitem"]') ?? [])].map((row) => ({
        index: Number(row.getAttribute('data-index')),
        label: row.getAttribute('aria-label') ?? '',
      })),
    );
    return rows.toSorted((a, b) => a.index - b.index).map(({ label }) => label);
  }

  /** Waits for a row and returns its label. Scrolls to it if the tree is taller than its view. */
  async waitFor(label: string | RegExp): Promise<string> {
    return until(
      async () => `the row ${String(label)} in ${this.#name}; shown: ${JSON.stringify(await this.labels())}`,
      async () => {
        const found = (await this.labels()).find((each) => isLabel(each, label));
        if (found === undefined) await this.#scroll();
        return found;
      },
    );
  }

  /** Waits until no row on screen has the label. */
  async waitUntilGone(label: string | RegExp): Promise<void> {
    await until(
      `the row ${String(label)} in ${this.#name} to disappear`,
      async () => !(await this.labels()).some((each) => isLabel(each, label)),
    );
  }

  /** Waits until the first project is expanded: the last step of connecting. */
  async waitForFirstProject(): Promise<void> {
    await this.#root.locator('[aria-level="2"]').first().waitFor();
  }

  /** Waits until a row is selected: the last step of commands that show what they made. */
  async waitUntilSelected(label: string | RegExp): Promise<void> {
    const row = await this.#row(label);
    await row.and(this.#page.locator('[aria-selected="true"]')).waitFor();
  }

  /** Clicks a row until it is selected: one that moves in the meantime, such as when a message above the rows goes, isn't hit. */
  async click(label: string | RegExp): Promise<void> {
    const row = await this.#row(label);
    const selected = row.and(this.#page.locator('[aria-selected="true"]'));
    await until(`${String(label)} to be selected`, async () => {
      await row.click();
      return selected.waitFor({ timeout: DRAWN_AGAIN }).then(
        () => true,
        () => false,
      );
    });
  }

  /** Presses an arrow key and waits until another row has the focus. */
  async moveFocus(key: 'ArrowDown' | 'ArrowUp'): Promise<void> {
    const focused = this.#root.locator('.monaco-list-row.focused');
    const before = await focused.getAttribute('aria-label');
    await this.#page.keyboard.press(key);
    await until(`another row than ${before} to have the focus`, async () => {
      const [now] = await focused.evaluateAll((rows: PageElement[]) =>
        rows.map((row) => row.getAttribute('aria-label')),
      );
      return now !== undefined && now !== before;
    });
  }

  /** Expands a row if it is collapsed and waits until it is expanded. */
  async expand(label: string | RegExp): Promise<void> {
    const row = await this.#row(label);
    const twistie = row.locator('.monaco-tl-twistie');
    // VS Code itself may expand the row in the meantime.
    const collapsed = '[aria-expanded="false"] .monaco-tl-twistie';
    await until(`${String(label)} to be expanded`, async () => {
      if ((await row.getAttribute('aria-expanded')) === 'true') return true;
      return await giveInput(this.#pane, 'click', collapsed, () => twistie.click());
    });
    await this.#root.locator('[aria-expanded="true"]').and(row).waitFor();
  }

  /**
   * Expands a project and waits for the names of its branches, which arrive after its rows: VS Code then replaces the rows, so
   * that a click could hit another row, or one whose compute isn't known yet.
   */
  async expandProject(name: string): Promise<void> {
    await this.expand(`Project ${name}`);
    await until(`the names of the branches of ${name}`, async () => {
      const branches = (await this.labels()).filter((label) => label.startsWith('Branch '));
      return (
        branches.length > 0 && !branches.some((label) => /^Branch br-[\w-]+(?:, no computes)?$/.test(label))
      );
    });
  }

  /**
   * Clicks one of the buttons that a row shows on hover. No message above the rows may end in the meantime: the rows would
   * move away from the pointer, which hides the button.
   */
  async inlineAction(label: string | RegExp, action: string): Promise<void> {
    const row = await this.#row(label);
    // VS Code appends the key of a command that has one.
    const name = new RegExp(`^${action.replaceAll(/[()[\]…?.]/g, String.raw`\$&`)}(?: \\([^)]*\\))?$`);
    const button = row.getByRole('button', { name });
    await until(`the button ${action}`, async () => {
      // Rows that are drawn again while the pointer rests do not notice it.
      await row.hover();
      if (!(await button.isVisible())) return false;
      return await giveInput(this.#pane, 'click', '.action-label', () => button.click());
    });
  }

  /** Clicks an item of a row's context menu, such as `'Copy Host'` or `'More', 'Copy Id'`. */
  async contextMenu(label: string | RegExp, ...titles: readonly string[]): Promise<void> {
    const open = async () => openMenu(this.#page, await this.#row(label));
    await chooseFromMenu(this.#pane, open, titles);
  }

  /** Returns the items of a row's context menu, or of a submenu, and closes it again. */
  async contextMenuItems(label: string | RegExp, submenu?: string): Promise<string[]> {
    await openMenu(this.#page, await this.#row(label));
    return readMenu(this.#page, submenu);
  }

  /** Returns the keys next to the items of a row's context menu, by their titles, and closes it again. */
  async contextMenuKeys(label: string | RegExp): Promise<Readonly<Record<string, string>>> {
    await openMenu(this.#page, await this.#row(label));
    return readMenuKeys(this.#page);
  }

  /** Hovers over a row and returns its tooltip. */
  async tooltip(label: string | RegExp): Promise<string> {
    const name = (await this.#row(label)).locator('.label-name');
    const hover = this.#page.locator('.monaco-hover:visible');
    await hover.waitFor({ state: 'hidden' });
    return until(`the tooltip of ${String(label)}`, async () => {
      if ((await hover.count()) === 0) {
        // A row that is drawn again, such as when its time has changed, has no tooltip until the pointer enters it again.
        await this.#page.mouse.move(0, 0);
        await name.hover();
        await hover.waitFor({ timeout: DRAWN_AGAIN }).catch(() => undefined);
      }
      const [text] = await hover.allInnerTexts();
      return text !== 'Loading...' && text;
    });
  }

  async #row(label: string | RegExp): Promise<Locator> {
    await this.waitFor(label);
    // The row under the pointer has a tooltip, which covers the rows below it. It goes when the pointer leaves the row, or the
    // tooltip itself if the row was drawn again in the meantime.
    const tooltip = this.#page.locator('.context-view .monaco-hover:visible');
    const shown = async () => `the tooltip to go: ${(await tooltip.allInnerTexts()).join('\n')}`;
    await until(shown, async () => {
      const [box] = await tooltip.evaluateAll((all) =>
        all.map((each) => each.getBoundingClientRect().toJSON()),
      );
      if (box) await this.#page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
      for (const y of [0, 1]) await this.#page.mouse.move(0, y);
      return (await tooltip.count()) === 0;
    });
    const rows = this.#root.locator('.monaco-list-rows');
    return rows.getByRole('treeitem', { name: label, exact: true }).first();
  }

  /** Scrolls down one step, or back to the top from the end. Does nothing if all rows fit. */
  async #scroll(): Promise<void> {
    if (!(await this.#root.isVisible())) return;
    const view = await this.#root.boundingBox();
    const all = await this.#root.locator('.monaco-list-rows').first().boundingBox();
    if (view === null || all === null || all.height <= view.height) return;
    await this.#root.hover();
    const atEnd = all.y + all.height <= view.y + view.height + 1;
    const distance = atEnd ? -all.height : view.height / 2;
    // A list scrolls at most 50 pixels for each wheel event.
    for (let moved = 0; moved < Math.abs(distance); moved += 50) {
      await this.#page.mouse.wheel(0, Math.sign(distance) * 50);
    }
  }
}

function isLabel(shown: string, expected: string | RegExp): boolean {
  return typeof expected === 'string' ? shown === expected : expected.test(shown);
}
