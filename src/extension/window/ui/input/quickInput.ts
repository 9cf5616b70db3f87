/** The kinds of questions: pick an item or several, or enter text. */
import {
  l10n,
  QuickInputButtons,
  QuickPickItemKind,
  window,
  type QuickInput,
  type QuickInputButton,
  type QuickPickItem,
} from 'vscode';
import { isName, MAX_NAME_LENGTH } from '../../../../api/rules/nameLength.ts';
import { DisposableStore } from '../../../../base/disposable.ts';
import { safeItem, safeText } from '../window.ts';
import { GO_BACK, type Answer, type Question, type StepPosition } from './multiStepInput.ts';

/** An item of a list. */
export interface Choice<T> extends QuickPickItem {
  /** Undefined if the item is shown but can't be picked. Its description says why. */
  readonly value: T | undefined;
  /** The item to focus; by default the first one that can be picked. */
  readonly isCurrent?: boolean;
  /** Buttons of the item. They answer the question, too. */
  readonly actions?: readonly { readonly button: QuickInputButton; readonly value: T }[];
}

/** Returns a line between items, with a title or without. */
export const listSeparator = (label = ''): Choice<never> => ({
  label,
  kind: QuickPickItemKind.Separator,
  value: undefined,
});

/** Loads all items. Call `show` with those that are known earlier. */
type LoadItems<T> = (show: (known: readonly Choice<T>[]) => void) => Promise<readonly Choice<T>[]>;

interface PickOptions<T> {
  readonly placeholder: string;
  /** The text that is shown instead if there are no items. */
  readonly none?: string;
  /** The list is busy while its items load. If they can't be loaded, the question ends with the error. */
  readonly items: readonly Choice<T>[] | LoadItems<T>;
  /** Identifies values that are objects, so that the active item stays active when the items are replaced. */
  readonly idOf?: (value: T) => string;
  /** An item for the entered text, shown first. */
  readonly typed?: (text: string) => Choice<T> | undefined;
  /** The answer for an entered secret, which is removed at once, because the box shows its text. Needs `typed`. */
  readonly secret?: (text: string) => T | undefined;
}

/** Asks to pick an item of a list. The answer is the value of the item. */
export const pickOne =
  <T>(pick: PickOptions<T>): Question<T> =>
  (position) => {
    const input = window.createQuickPick<Choice<T>>();
    input.placeholder = safeText(pick.placeholder);
    input.matchOnDescription = true;
    input.matchOnDetail = true;
    input.keepScrollPosition = true;
    return askByInput<T>(input, position, (disposables, answer, fail) => {
      let items: readonly Choice<T>[] = [];
      const idOf = ({ value }: Choice<T>) =>
        value === undefined || pick.idOf === undefined ? value : pick.idOf(value);
      const show = () => {
        // This also removes an entered secret from the box, and answers with it.
        const typed = pick.typed?.(takeSecret(input, pick, answer));
        const shown = showWordMatches(items, wordsOf(input.value));
        input.items = typed === undefined ? shown : [safeItem(typed), ...shown];
      };
      const setItems = (loaded: readonly Choice<T>[]) => {
        const activeId = input.activeItems[0] && idOf(input.activeItems[0]);
        items = loaded.map((item) =>
          safeItem({ ...item, buttons: item.actions?.map(({ button }) => button) ?? [] }),
        );
        // VS Code makes the first new item active, but the user may be about to press Enter on another one.
        show();
        // With a text, VS Code activates the first match. Another item, which may not match, would leave none active.
        const first = input.value.trim() === '' ? itemToFocus(items) : undefined;
        const active = activeId === undefined ? first : input.items.find((item) => idOf(item) === activeId);
        if (active !== undefined) input.activeItems = [active];
      };
      const setLoaded = (loaded: readonly Choice<T>[]) => {
        if (loaded.length === 0 && pick.typed === undefined)
          input.placeholder = safeText(pick.none ?? l10n.t('There is nothing to select.'));
        setItems(loaded);
      };
      if (typeof pick.items === 'function') {
        input.busy = true;
        pick.items(setItems).then((loaded) => {
          input.busy = false;
          setLoaded(loaded);
        }, fail);
      } else setLoaded(pick.items);
      disposables.add(input.onDidChangeValue(whenWordsChange(show, pick.typed !== undefined)));
      // Unlike the selection, `activeItems` is updated late and may belong to the previous text.
      let selected: Choice<T> | undefined;
      disposables.add(input.onDidChangeValue(() => (selected = undefined)));
      disposables.add(input.onDidChangeSelection(([item]) => (selected = item)));
      // The user may press Enter before the items are drawn.
      const itemFor = (text: string) => {
        if (text === '') return itemToFocus(items);
        return items.find(({ label }) => label === text) ?? pick.typed?.(text);
      };
      const accept = () => {
        const value = (selected ?? itemFor(input.value.trim()))?.value;
        if (value !== undefined) answer(value);
      };
      disposables.add(input.onDidAccept(accept));
      disposables.add(
        input.onDidTriggerItemButton(({ item, button }) => {
          const action = item.actions?.find((each) => each.button === button);
          if (action !== undefined) answer(action.value);
        }),
      );
    });
  };

/** Returns the current item, even if it can't be picked: Enter doesn't pick another one then. */
const itemToFocus = <T>(items: readonly Choice<T>[]): Choice<T> | undefined =>
  items.find(({ isCurrent }) => isCurrent === true) ?? items.find(({ value }) => value !== undefined);

/** Removes a secret from the box, which shows its text, and answers with it. @returns the text that stays */
function takeSecret<T>(
  input: { value: string },
  { secret }: PickOptions<T>,
  answer: (value: T) => void,
): string {
  const text = input.value.trim();
  const taken = secret?.(text);
  if (taken === undefined) return text;
  input.value = '';
  answer(taken);
  return '';
}

/**
 * Returns a listener that shows the items again only if necessary. VS Code takes long to draw many items again.
 * @param isAlways whether the items depend on the text in another way, too
 */
function whenWordsChange(show: () => void, isAlways: boolean): (text: string) => void {
  let hadWords = false;
  return (text) => {
    const hasWords = wordsOf(text).length > 1;
    if (isAlways || hasWords || hadWords) show();
    hadWords = hasWords;
  };
}

const wordsOf = (text: string): readonly string[] => text.toLowerCase().split(/\s+/).filter(Boolean);

/**
 * Marks the items that contain all the words. VS Code itself looks for the whole text in the label, the description or the detail.
 * So items with several words in any of these, such as a project and a branch, are shown, too.
 */
function showWordMatches<T>(items: readonly Choice<T>[], words: readonly string[]): readonly Choice<T>[] {
  if (words.length < 2) return items;
  return items.map((item) => {
    const text = `${item.label} ${item.description ?? ''} ${item.detail ?? ''}`.toLowerCase();
    return words.every((word) => text.includes(word)) ? { ...item, alwaysShow: true } : item;
  });
}

/** Asks to pick several items, all of which are ticked at first. The answer is the values of the ticked ones. */
export const pickMany =
  <T>(placeholder: string, items: readonly Choice<T>[]): Question<readonly T[]> =>
  (position) => {
    const input = window.createQuickPick<Choice<T>>();
    input.placeholder = safeText(placeholder);
    input.canSelectMany = true;
    input.items = items.map(safeItem);
    input.selectedItems = input.items;
    return askByInput<readonly T[]>(input, position, (disposables, answer) => {
      const accept = () =>
        answer(input.selectedItems.flatMap(({ value }) => (value === undefined ? [] : [value])));
      disposables.add(input.onDidAccept(accept));
    });
  };

interface QuestionButton extends QuickInputButton {
  readonly act: () => void;
}

/** A question that is answered with a text. */
export interface TextOptions {
  readonly prompt: string;
  readonly placeholder?: string;
  readonly value?: string;
  readonly isSecret?: boolean;
  /** A button next to the title. */
  readonly button?: QuestionButton;
  /** Accepts any text, even an empty one. Otherwise the text is trimmed and can't be empty. */
  readonly isVerbatim?: boolean;
  /** Validates the text while the user types. */
  readonly problem?: (text: string) => string | undefined;
  /** Validates the text after Enter. The user can correct it. */
  readonly check?: (text: string, signal: AbortSignal) => Promise<string | undefined>;
}

/** Asks for a text, which is the answer. */
export const enterText =
  (question: TextOptions): Question<string> =>
  (position) => {
    const input = window.createInputBox();
    input.prompt = safeText(question.prompt);
    input.placeholder = safeText(question.placeholder ?? '');
    input.value = question.value ?? '';
    input.password = question.isSecret ?? false;
    // VS Code would select the beginning of a secret, so that further keys replace it.
    if (input.password) input.valueSelection = [input.value.length, input.value.length];
    const isVerbatim = question.isVerbatim ?? false;
    const problemOf = (text: string) =>
      text === '' && !isVerbatim ? l10n.t("Can't be empty") : question.problem?.(text);
    const { button } = question;
    if (button !== undefined) input.buttons = [button];
    return askByInput<string>(input, position, (disposables, answer, fail) => {
      const onButton = (pressed: unknown) => {
        if (pressed === button) button?.act();
      };
      disposables.add(input.onDidTriggerButton(onButton));
      const closed = new AbortController();
      disposables.add({ dispose: () => closed.abort() });
      const text = () => (isVerbatim ? input.value : input.value.trim());
      const show = (message: string | undefined) => {
        input.validationMessage = safeText(message ?? '');
      };
      disposables.add(input.onDidChangeValue(() => show(problemOf(text()))));
      const accept = async () => {
        const accepted = text();
        const problem = problemOf(accepted);
        if (problem !== undefined) return show(problem);
        input.busy = true;
        input.enabled = false;
        const failure = await question.check?.(accepted, closed.signal);
        if (closed.signal.aborted) return;
        input.busy = false;
        input.enabled = true;
        if (failure === undefined) answer(accepted);
        else show(failure);
      };
      disposables.add(input.onDidAccept(() => void accept().catch(fail)));
    });
  };

/** Says what is wrong with a name. */
export const nameProblem = (text: string, maxLength = MAX_NAME_LENGTH): string | undefined =>
  isName(text, maxLength) ? undefined : l10n.t('At most {0} characters, no control characters', maxLength);

function askByInput<T>(
  input: QuickInput & {
    buttons: readonly unknown[];
    onDidTriggerButton: (listener: (button: unknown) => void) => { dispose(): void };
  },
  position: StepPosition,
  connect: (disposables: DisposableStore, answer: (value: T) => void, fail: (error: unknown) => void) => void,
): Promise<Answer<T>> {
  input.title = safeText(position.title);
  if (position.totalSteps > 1) [input.step, input.totalSteps] = [position.step, position.totalSteps];
  // Switching to another window must not lose the text.
  input.ignoreFocusOut = true;
  if (position.canGoBack) input.buttons = [QuickInputButtons.Back, ...input.buttons];
  const disposables = new DisposableStore();
  const { promise, resolve, reject } = Promise.withResolvers<Answer<T>>();
  disposables.add(input);
  disposables.add(input.onDidHide(() => resolve(undefined)));
  disposables.add(
    input.onDidTriggerButton((button) => {
      if (button === QuickInputButtons.Back) resolve(GO_BACK);
    }),
  );
  connect(disposables, resolve, reject);
  input.show();
  return promise.finally(() => disposables.dispose());
}
