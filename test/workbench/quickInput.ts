import path from 'node:path';
import type { Locator, Page } from 'playwright-core';
import type { PageElement } from './pageElement.ts';
import { matches, until } from './until.ts';

/** Milliseconds until the command palette is opened again, and for one click. */
const [OPENED_WITHIN, CLICKED_WITHIN] = [3000, 2000];

/** The content of a quick pick or an input box. */
export interface QuickInputContent {
  readonly title: string;
  /** The prompt of an input box, or its validation message. */
  readonly message: string;
  readonly placeholder: string;
  readonly value: string;
  readonly password: boolean;
  /** The items of a quick pick: the label, and the description after a space if there is one. */
  readonly items: readonly string[];
}

/**
 * The quick pick or input box of the window. Every method takes a part of the title, message or placeholder of the
 * prompt that it is meant for, so that no answer goes to the previous prompt by mistake.
 */
export class QuickInput {
  readonly #page: Page;
  readonly #widget: Locator;
  readonly #input: Locator;

  constructor(page: Page) {
    this.#page = page;
    this.#widget = page.locator('.quick-input-widget');
    this.#input = this.#widget.locator('.quick-input-box input');
  }

  /** Waits for a prompt and returns its content. */
  async waitFor(prompt: string | RegExp): Promise<QuickInputContent> {
    const probe = async () => {
      const content = await this.read();
      if (content === undefined) return undefined;
      return matches(promptOf(content), prompt) && content;
    };
    return until(`the prompt ${String(prompt)}`, probe);
  }

  /** Waits until a quick pick has this number of items, some of which may be loaded late, and returns them. */
  async waitForItems(prompt: string | RegExp, count: number): Promise<readonly string[]> {
    return until(`${count} items of ${String(prompt)}`, async () => {
      const { items } = await this.waitFor(prompt);
      return items.length === count && items;
    });
  }

  /** Returns the current content, or undefined if no prompt is open. */
  async read(): Promise<QuickInputContent | undefined> {
    return this.#widget.evaluateAll(([widget]: PageElement[]) => {
      if (widget === undefined || widget.style.display === 'none') return undefined;
      const text = (element: PageElement, selector: string) =>
        element.querySelector(selector)?.textContent ?? '';
      const field: (PageElement & { value?: string }) | null = widget.querySelector('.quick-input-box input');
      return {
        title: text(widget, '.quick-input-title'),
        message: text(widget, '.quick-input-message'),
        placeholder: field?.getAttribute('placeholder') ?? '',
        value: field?.value ?? '',
        password: field?.getAttribute('type') === 'password',
        items: [...widget.querySelectorAll('.quick-input-list .monaco-list-row')].map((row) =>
          `${text(row, '.label-name')} ${text(row, '.label-description')}`.trim(),
        ),
      };
    });
  }

  /** Replaces the value of an input box with `text` and presses Enter. */
  async answer(prompt: string | RegExp, text: string): Promise<void> {
    await this.type(prompt, text);
    await this.accept(prompt);
  }

  /** Replaces the value without accepting it. */
  async type(prompt: string | RegExp, text: string): Promise<void> {
    await this.waitFor(prompt);
    await this.#input.press('ControlOrMeta+a');
    await (text === '' ? this.#input.press('Delete') : this.#input.pressSequentially(text));
    await until(`"${text}" in the box`, async () => (await this.read())?.value === text);
  }

  /** Opens a folder in VS Code's own file dialog. The folder has no subfolders. */
  async openFolder(prompt: string | RegExp, folder: string): Promise<void> {
    const lists = (isExpected: (items: readonly string[]) => boolean, what: string) =>
      until(`the dialog to list ${what}`, async () => isExpected((await this.waitFor(prompt)).items));
    await lists((items) => items.includes('..'), 'its first folder');
    // Sets the whole text at once, because the dialog would complete text that is typed. The parent comes first, so that the list of the
    // folder differs from the one before: until then, the dialog would open the folder instead of taking it.
    await this.#input.fill(`${path.dirname(folder)}/`);
    await lists((items) => items.includes(path.basename(folder)), path.dirname(folder));
    await this.#input.fill(`${folder}/`);
    await lists((items) => items.join() === '..', folder);
  }

  /** Submits an invalid value and returns the validation message. */
  async validationMessage(prompt: string | RegExp, text: string): Promise<string> {
    const before = await this.waitFor(prompt);
    await this.type(prompt, text);
    await this.#input.press('Enter');
    return until(`a validation message for "${text}"`, async () => {
      const content = await this.read();
      return content !== undefined && content.message !== before.message && content.message;
    });
  }

  /** Clicks the item of a quick pick with exactly this label. */
  async choose(prompt: string | RegExp, label: string): Promise<void> {
    const before = await this.waitFor(prompt);
    // The item under the pointer shows a hover, which can cover others.
    await this.#page.mouse.move(0, 0);
    await this.#item(label).click();
    await this.#waitForChange(before);
  }

  /** Clicks a button of the item of a quick pick with exactly this label. */
  async pressItemButton(prompt: string | RegExp, label: string, button: string): Promise<void> {
    const before = await this.waitFor(prompt);
    const item = this.#item(label);
    await item.waitFor();
    await item.hover();
    await item.getByRole('button', { name: button }).click();
    await this.#waitForChange(before);
  }

  /** Clicks the ticked item of a list with checkboxes. */
  async untick(prompt: string | RegExp, label: string): Promise<void> {
    await this.waitFor(prompt);
    await this.#page.mouse.move(0, 0);
    const item = this.#item(label);
    await item.click();
    await until(`${label} to be unticked`, async () => (await item.getAttribute('aria-checked')) === 'false');
  }

  /** Presses a key in the box, and doesn't wait for what it does. */
  async press(key: string): Promise<void> {
    await this.#input.press(key);
  }

  /** Presses Enter, which accepts the value or the focused item. */
  async accept(prompt: string | RegExp): Promise<void> {
    const before = await this.waitFor(prompt);
    await this.#input.press('Enter');
    await this.#waitForChange(before);
  }

  /** Cancels with Escape. */
  async cancel(prompt: string | RegExp): Promise<void> {
    const before = await this.waitFor(prompt);
    // Only the prompt is compared, because the items may still change.
    const isClosed = async () => {
      const content = await this.read();
      return content === undefined || promptOf(content) !== promptOf(before);
    };
    await this.#input.press('Escape');
    await until('the prompt to close', isClosed);
  }

  /** Clicks a button of the title bar, such as "Back". */
  async pressButton(label: string): Promise<void> {
    await this.#widget.getByRole('button', { name: label }).click();
  }

  /** Waits until no prompt is open. */
  async closed(): Promise<void> {
    await until('the prompt to close', async () => (await this.read()) === undefined);
  }

  /** Runs a command from the palette by its title, such as "Hosted Postgres: Refresh". */
  async runCommand(title: string): Promise<void> {
    const query = `>${title}`;
    await this.searchCommands(title, () => this.#item(title).click({ timeout: CLICKED_WITHIN }));
    await until(`the command ${title} to run`, async () => (await this.read())?.value !== query);
  }

  /**
   * Searches the command palette. What takes the focus late, such as a page or an editor that has just loaded, closes it, and then it is
   * opened again, as a user would.
   * @param use uses what was found, and rejects if it isn't there yet
   */
  async searchCommands(title: string, use: () => Promise<unknown>): Promise<void> {
    const query = `>${title}`;
    let openedAt = -Infinity;
    await until(`${title} in the command palette`, async () => {
      const content = await this.read();
      if (content?.value.startsWith('>') !== true) {
        if (performance.now() - openedAt < OPENED_WITHIN) return false;
        openedAt = performance.now();
        await this.#page.keyboard.press('F1');
        return false;
      }
      if (content.value === query)
        return use().then(
          () => true,
          () => false,
        );
      await this.#input.fill(query, { timeout: CLICKED_WITHIN }).catch(() => undefined);
      return false;
    });
  }

  #item(label: string): Locator {
    const name = this.#page.locator('.label-name').getByText(label, { exact: true });
    return this.#widget.locator('.quick-input-list .monaco-list-row').filter({ has: name }).first();
  }

  async #waitForChange(before: QuickInputContent): Promise<void> {
    await until(
      'the answer to be accepted',
      async () => JSON.stringify(await this.read()) !== JSON.stringify(before),
    );
  }
}

const promptOf = ({ title, message, placeholder }: QuickInputContent): string =>
  `${title}\n${message}\n${placeholder}`;
