import type { Locator, Page } from 'playwright-core';
import type { PageElement } from './pageElement.ts';
import { came, matches, until } from './until.ts';

/** What a quick pick or an input box shows. */
export interface QuickInputContent {
  readonly title: string;
  /** The prompt of an input box, or what it says against the value typed. */
  readonly message: string;
  readonly placeholder: string;
  readonly value: string;
  readonly password: boolean;
  /** The items of a quick pick: label, and description after a space when it has one. */
  readonly items: readonly string[];
}

/**
 * The quick pick or input box on top of the window. Every answer names what is asked (a part of the title,
 * the message or the placeholder), so that it never lands in the question before.
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

  /** Waits for the question and returns what is shown. */
  async waitFor(asked: string | RegExp, timeoutMs?: number): Promise<QuickInputContent> {
    const probe = async () => {
      const content = await this.read();
      if (content === undefined) return undefined;
      return matches(questionOf(content), asked) && content;
    };
    return until(`the question ${String(asked)}`, probe, timeoutMs);
  }

  /** What is shown now; undefined when nothing is asked. */
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

  /** Answers an input box: replaces its value by `text` and presses Enter. */
  async answer(asked: string | RegExp, text: string): Promise<void> {
    await this.type(asked, text);
    await this.accept(asked);
  }

  /** Replaces the value without accepting it. */
  async type(asked: string | RegExp, text: string): Promise<void> {
    // The box may still be getting its first value when the question is on screen: what was typed must be what it holds.
    await until(`"${text}" in the box`, async () => {
      await this.waitFor(asked);
      await this.#input.press('ControlOrMeta+a');
      await (text === '' ? this.#input.press('Delete') : this.#input.pressSequentially(text));
      return (await this.read())?.value === text;
    });
  }

  /** Types a value that must be refused, presses Enter and returns what the box says against it. */
  async refusal(asked: string | RegExp, text: string): Promise<string> {
    const before = await this.waitFor(asked);
    await this.type(asked, text);
    await this.#input.press('Enter');
    return until(`words against "${text}"`, async () => {
      const content = await this.read();
      return content !== undefined && content.message !== before.message && content.message;
    });
  }

  /** Clicks the item of a quick pick with exactly this label. */
  async choose(asked: string | RegExp, label: string): Promise<void> {
    const before = await this.waitFor(asked);
    // A list that is drawn anew under the pointer swallows the click.
    await until(`${label} to be taken`, async () => {
      const clicked = await came(this.#item(label).click({ timeout: 5_000 }));
      return (clicked && (await came(this.#left(before, 1_000)))) || this.#hasLeft(before);
    });
  }

  /** Presses Enter: takes the value, or the item in focus. */
  async accept(asked: string | RegExp): Promise<void> {
    const before = await this.waitFor(asked);
    await this.#input.press('Enter');
    await this.#left(before);
  }

  /** Backs out with Escape. */
  async cancel(asked: string | RegExp): Promise<void> {
    const before = await this.waitFor(asked);
    // What it lists may still change.
    const isGone = async () => {
      const content = await this.read();
      return content === undefined || questionOf(content) !== questionOf(before);
    };
    // A question that has just come may not have the keyboard yet.
    await until('the question to go', async () => {
      if (await isGone()) return true;
      await came(this.#input.press('Escape', { timeout: 2_000 }));
      return came(until('it to go', isGone, 1_000));
    });
  }

  /** Clicks a button of the title bar, such as "Back". */
  async pressButton(label: string): Promise<void> {
    await this.#widget.getByRole('button', { name: label }).click();
  }

  /** Waits until nothing is asked. */
  async closed(): Promise<void> {
    await until('no question', async () => (await this.read()) === undefined);
  }

  /** Runs a command by its title in the palette, as "Hosted Postgres: Refresh". */
  async runCommand(title: string): Promise<void> {
    await until(`the command ${title}`, () => this.#runListed(title), 60_000);
  }

  /** The palette lists what can run at the moment it opens: a window still loading lists less, and is asked again. */
  async #runListed(title: string): Promise<boolean> {
    const asked = `>${title}`;
    await this.#page.keyboard.press('F1');
    if (!(await came(this.#opened()))) return false;
    // What such a window does next may close the palette again.
    if (!(await came(this.#input.fill(asked, { timeout: 2_000 })))) return false;
    if (await came(this.#item(title).click({ timeout: 2000 }))) {
      // A list that is drawn anew under the pointer swallows the click: then the palette stays.
      if (await came(until('it to run', async () => (await this.read())?.value !== asked, 500))) return true;
    }
    await came(this.#input.press('Escape', { timeout: 2000 }));
    return false;
  }

  async #opened(): Promise<void> {
    await until('the command palette', async () => (await this.read())?.value.startsWith('>'), 2000);
  }

  #item(label: string): Locator {
    const name = this.#page.locator('.label-name').getByText(label, { exact: true });
    return this.#widget.locator('.quick-input-list .monaco-list-row').filter({ has: name }).first();
  }

  async #left(before: QuickInputContent, timeoutMs?: number): Promise<void> {
    await until('the answer to be taken', () => this.#hasLeft(before), timeoutMs);
  }

  async #hasLeft(before: QuickInputContent): Promise<boolean> {
    return JSON.stringify(await this.read()) !== JSON.stringify(before);
  }
}

const questionOf = ({ title, message, placeholder }: QuickInputContent): string =>
  `${title}\n${message}\n${placeholder}`;
