import type { Locator, Page } from 'playwright-core';
import type { PageElement } from './pageElement.ts';
import { matches, until } from './until.ts';

/** The active text editor. For short documents only: all lines must be on screen. */
export class Editor {
  readonly #page: Page;
  readonly #root: Locator;
  readonly #list: Locator;

  constructor(page: Page) {
    this.#page = page;
    this.#root = page.locator('.editor-group-container.active .editor-instance .monaco-editor').first();
    this.#list = page.locator('.suggest-widget.visible');
  }

  /** Replaces the whole document by typing. */
  async retype(text: string): Promise<void> {
    await this.focus();
    await this.#page.keyboard.press('ControlOrMeta+a');
    await this.#page.keyboard.press('Delete');
    await this.type(text);
  }

  async type(text: string): Promise<void> {
    await this.#page.keyboard.type(text);
  }

  async press(key: string): Promise<void> {
    await this.#page.keyboard.press(key);
  }

  /** Waits until the file with this name has the keyboard focus. What is typed earlier can go to another editor or view. */
  async waitForFile(name: string): Promise<void> {
    await this.#root.and(this.#page.locator(`.focused[data-uri$="/${name}"]`)).waitFor();
  }

  /** Moves the keyboard focus to the editor. The cursor stays where it is. */
  async focus(): Promise<void> {
    await this.#page.keyboard.press('ControlOrMeta+1');
    await this.#root.and(this.#page.locator('.focused')).waitFor();
  }

  async text(): Promise<string> {
    const lines = await this.#root.locator('.view-lines .view-line').evaluateAll((all: PageElement[]) =>
      all.map((line) => ({
        top: Number(/top:\s*([\d.]+)px/.exec(line.getAttribute('style') ?? '')?.[1] ?? 0),
        text: (line.textContent ?? '').replaceAll('\u00a0', ' '),
      })),
    );
    return lines
      .toSorted((a, b) => a.top - b.top)
      .map((line) => line.text)
      .join('\n');
  }

  async waitForText(text: string | RegExp): Promise<void> {
    await until(
      async () => `${String(text)} in the editor; it shows ${JSON.stringify(await this.text())}`,
      async () => matches(await this.text(), text),
    );
  }

  /** Returns the entries of the completion list: each label with its description. */
  async suggestions(): Promise<string[]> {
    const rows = this.#list.locator('.monaco-list-row');
    return rows.evaluateAll((all: PageElement[]) =>
      all.map((row) => {
        const text = (selector: string) => row.querySelector(selector)?.textContent ?? '';
        return `${text('.label-name')} ${text('.label-description, .details-label')}`.trim();
      }),
    );
  }

  /** Waits for a suggestion that contains the string or matches the expression. */
  async waitForSuggestion(expected: string | RegExp): Promise<string> {
    return until(
      async () => `the suggestion ${String(expected)}; shown: ${JSON.stringify(await this.suggestions())}`,
      async () => (await this.suggestions()).find((each) => matches(each, expected)),
    );
  }

  async accept(expected: string | RegExp): Promise<void> {
    await this.waitForSuggestion(expected);
    await this.#list.locator('.monaco-list-row').filter({ hasText: expected }).first().click();
  }

  /** Hovers over a word, waits for a text that matches, and returns it. Problems must be known before. */
  async hover(target: string, expected = /./): Promise<string> {
    const hover = this.#page.locator('.monaco-editor .monaco-hover:visible').first();
    const word = this.#root.locator('.view-lines .view-line span').filter({ hasText: target }).last();
    await this.#page.mouse.move(0, 0);
    await hover.waitFor({ state: 'hidden' });
    await word.hover();
    return until(`the hover over ${target}`, async () => {
      const [text] = await hover.allInnerTexts();
      return text !== undefined && text !== 'Loading...' && expected.test(text) && text;
    });
  }

  /** Returns the vertical position of each link in the visible hover. */
  async linesInHover(labels: readonly string[]): Promise<readonly (number | undefined)[]> {
    const hover = this.#page.locator('.monaco-editor .monaco-hover:visible');
    const boxes = labels.map(async (label) => hover.getByText(label, { exact: true }).boundingBox());
    return (await Promise.all(boxes)).map((box) => box?.y);
  }

  /** Clicks a link in the visible hover. */
  async clickInHover(label: string): Promise<void> {
    await this.#page
      .locator('.monaco-editor .monaco-hover:visible')
      .getByText(label, { exact: true })
      .click();
  }
}
