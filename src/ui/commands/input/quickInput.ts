/** The two questions a command can ask, as pages of a flow: pick one, or type something. */
import { QuickInputButtons, window, type QuickInput, type QuickPickItem } from 'vscode';
import { DisposableStore } from '../../../base/disposable.ts';
import { BACK, type Answer, type Page } from './multiStepInput.ts';

export type { Answer, Page } from './multiStepInput.ts';

export interface Pick<T extends QuickPickItem> {
  readonly placeholder: string;
  /** A promise shows as busy until it is kept; a broken one ends the flow with its reason. */
  readonly items: readonly T[] | Promise<readonly T[]>;
  /** An item for what was typed, in front of those that match it. */
  readonly typed?: (text: string) => T | undefined;
  /** Items that cannot be had stay, with the reason in their detail. */
  readonly isRefused?: (item: T) => boolean;
  /** The item in focus at first; the first one by default. */
  readonly isCurrent?: (item: T) => boolean;
}

/** @returns the item, {@link BACK}, or undefined when the user gave up */
export function pickOne<T extends QuickPickItem>(page: Page, pick: Pick<T>): Promise<Answer<T>> {
  const input = window.createQuickPick<T>();
  input.placeholder = pick.placeholder;
  input.matchOnDescription = true;
  input.matchOnDetail = true;
  return ask<T>(input, page, (held, answer, fail) => {
    let items: readonly T[] = [];
    const show = () => {
      const typed = pick.typed?.(input.value.trim());
      input.items = typed === undefined ? items : [typed, ...items];
    };
    const take = (known: readonly T[]) => {
      items = known;
      input.busy = false;
      show();
      const current = pick.isCurrent && items.find(pick.isCurrent);
      if (current !== undefined) input.activeItems = [current];
    };
    input.busy = true;
    if (pick.items instanceof Promise) pick.items.then(take, fail);
    else take(pick.items);
    if (pick.typed !== undefined) held.add(input.onDidChangeValue(show));
    // What VS Code took at Enter or by a click. Its active items are told late: they may still be those of a text before.
    let selected: T | undefined;
    held.add(input.onDidChangeValue(() => (selected = undefined)));
    held.add(input.onDidChangeSelection(([item]) => (selected = item)));
    // Enter may come before the item for what was typed, or any item, is on screen.
    const meant = (text: string) => {
      if (text === '') return items.find((item) => pick.isCurrent?.(item)) ?? items[0];
      return items.find(({ label }) => label === text) ?? pick.typed?.(text);
    };
    const accept = () => {
      const item = selected ?? meant(input.value.trim());
      if (item !== undefined && pick.isRefused?.(item) !== true) answer(item);
    };
    held.add(input.onDidAccept(accept));
  });
}

export interface Question {
  readonly prompt: string;
  readonly placeholder?: string;
  readonly value?: string;
  readonly isSecret?: boolean;
  /** What is wrong with the text while it is typed. */
  readonly problem?: (text: string) => string | undefined;
  /** Asked at Enter, when `problem` has none: what is wrong, shown below the text, which stays. */
  readonly check?: (text: string, signal: AbortSignal) => Promise<string | undefined>;
}

/** @returns the text, {@link BACK}, or undefined when the user gave up */
export function askText(page: Page, question: Question): Promise<Answer<string>> {
  const input = window.createInputBox();
  input.prompt = question.prompt;
  input.placeholder = question.placeholder ?? '';
  input.value = question.value ?? '';
  input.password = question.isSecret ?? false;
  return ask<string>(input, page, (held, answer, fail) => {
    const closed = new AbortController();
    held.add({ dispose: () => closed.abort() });
    const say = (words: string | undefined) => {
      input.validationMessage = words ?? '';
    };
    held.add(input.onDidChangeValue((text) => say(question.problem?.(text))));
    const accept = async () => {
      const text = input.value;
      const problem = question.problem?.(text);
      if (problem !== undefined) return say(problem);
      input.busy = true;
      input.enabled = false;
      const refusal = await question.check?.(text, closed.signal);
      if (closed.signal.aborted) return;
      input.busy = false;
      input.enabled = true;
      if (refusal === undefined) answer(text);
      else say(refusal);
    };
    held.add(input.onDidAccept(() => void accept().catch(fail)));
  });
}

function ask<T>(
  input: QuickInput & {
    buttons: readonly unknown[];
    onDidTriggerButton: (hear: (b: unknown) => void) => { dispose(): void };
  },
  page: Page,
  wire: (held: DisposableStore, answer: (value: T) => void, fail: (error: unknown) => void) => void,
): Promise<Answer<T>> {
  input.title = page.title;
  if (page.steps > 1) [input.step, input.totalSteps] = [page.step, page.steps];
  // A glance at another window must not lose what was typed.
  input.ignoreFocusOut = true;
  if (page.canGoBack) input.buttons = [QuickInputButtons.Back];
  const held = new DisposableStore();
  const { promise, resolve, reject } = Promise.withResolvers<Answer<T>>();
  held.add(input);
  held.add(input.onDidHide(() => resolve(undefined)));
  held.add(
    input.onDidTriggerButton((button) => {
      if (button === QuickInputButtons.Back) resolve(BACK);
    }),
  );
  wire(held, resolve, reject);
  input.show();
  return promise.finally(() => held.dispose());
}
