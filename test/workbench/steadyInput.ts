import type { Locator } from 'playwright-core';
import type { PageElement } from './pageElement.ts';

interface InputEvent {
  composedPath(): readonly { closest(selector: string): object | null }[];
  preventDefault(): void;
  stopImmediatePropagation(): void;
}

interface PageGlobals {
  hadInput?: boolean;
  readonly document: {
    addEventListener(type: string, listener: (event: InputEvent) => void, options: object): void;
  };
  readonly MutationObserver: new (changed: () => void) => {
    observe(element: PageElement, options: object): void;
    takeRecords(): readonly object[];
    disconnect(): void;
  };
}

/**
 * Gives a click or a key to a part of the page, but keeps it from any other part, such as a row that was drawn again between the
 * press and the release, and from all while the rows of the pane are being drawn again: VS Code would pass no row to a command, and
 * undo an expansion. It shows a progress for each level of rows, and so none for a moment between two levels. Therefore, each change
 * of the progress counts.
 * @param pane of the side bar
 * @param input makes one event of this type
 * @returns whether what the selector finds had the input
 */
export async function giveInput(
  pane: Locator,
  type: 'click' | 'keydown',
  selector: string,
  input: () => Promise<void>,
): Promise<boolean> {
  await pane.evaluate(record, { type, selector });
  await input();
  return await pane.page().evaluate<boolean>('globalThis.hadInput');
}

/** Runs in the page. */
function record(pane: PageElement, { type, selector }: { readonly type: string; readonly selector: string }) {
  const page = globalThis as unknown as PageGlobals;
  const progress = pane.querySelector('.monaco-progress-container');
  let isSteady = pane.querySelector('.monaco-progress-container.active') === null;
  const changes = new page.MutationObserver(() => (isSteady = false));
  if (progress !== null) changes.observe(progress, { attributes: true });
  page.hadInput = false;
  const listener = (event: InputEvent) => {
    isSteady &&= changes.takeRecords().length === 0;
    changes.disconnect();
    page.hadInput = isSteady && (event.composedPath()[0]?.closest(selector) ?? null) !== null;
    if (page.hadInput) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  page.document.addEventListener(type, listener, { capture: true, once: true });
}
