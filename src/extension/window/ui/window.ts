/**
 * VS Code's window functions for text that may come from the service: in messages and prompts, VS Code turns
 * `[text](command:…)` into a link that runs the command. All other files use these, which `test/unit/architecture.test.ts`
 * checks.
 */
import {
  l10n,
  StatusBarAlignment,
  ThemeColor,
  window as vscodeWindow,
  type AccessibilityInformation,
  type CancellationToken,
  type ExtensionTerminalOptions,
  type InputBoxOptions,
  type MarkdownString,
  type Progress,
  type ProgressOptions,
  type QuickPickItem,
  type Terminal,
  type TerminalOptions,
  type TreeItem,
  type TreeView,
} from 'vscode';
import { sanitize } from '../../../base/sanitize.ts';
import type { CommandId } from '../../commandTable/commandTable.ts';

/** The most characters of a text. VS Code cuts off longer messages. Ours are shorter, even with three long names. */
const MAX_LENGTH = 1000;

export const safeText = (text: string): string => sanitize(text, MAX_LENGTH);

/** Cleans the details of a modal message, the only text with several lines. */
const safeLines = (text: string): string => text.split('\n').map(safeText).join('\n');

/** Returns a copy with safe text in these fields. Fields that aren't text stay as they are. */
function safeFields<T extends object>(shown: T, names: readonly (keyof T)[]): T {
  const texts = names.flatMap((name) => {
    const value: unknown = shown[name];
    return typeof value === 'string' ? [[name, safeText(value)]] : [];
  });
  return { ...shown, ...Object.fromEntries(texts) };
}

export const safeItem = <T extends QuickPickItem>(item: T): T =>
  safeFields(item, ['label', 'description', 'detail']);

/** Sets the text above the rows of a view. */
export function setViewMessage(view: Pick<TreeView<unknown>, 'message'>, text: string): void {
  const message = safeText(text);
  // VS Code draws the view again for each text that is set, also for the same one, and rows that have changed wait for that.
  if (view.message !== message) view.message = message;
}

/** Sets the text next to the title of a view. */
export function setViewDescription(view: Pick<TreeView<unknown>, 'description'>, text: string): void {
  view.description = safeText(text);
}

/** Cleans the texts of a row of a tree in place, because VS Code already has the row. */
export function safeRow(row: TreeItem): TreeItem {
  const { accessibilityInformation: spoken } = row;
  Object.assign(row, safeFields(row, ['label', 'description', 'tooltip']));
  if (spoken !== undefined) row.accessibilityInformation = safeFields(spoken, ['label']);
  return row;
}

type ShowMessage = (message: string, ...buttons: string[]) => Thenable<string | undefined>;

let openMessages = 0;

/** Whether one of our messages waits for an answer. */
export const hasOpenMessage = (): boolean => openMessages > 0;

/**
 * Makes a function that shows a message clean its texts. It returns the button as the caller named it, and doesn't wait for the
 * end of a message without buttons.
 */
const withSafeTexts =
  (show: ShowMessage): ShowMessage =>
  async (message, ...buttons) => {
    const shown = buttons.map(safeText);
    if (shown.length === 0) {
      // The promise resolves only when the user clears the notification, and a command that waited for it wouldn't end until then.
      show(safeText(message)).then(undefined, () => undefined);
      return undefined;
    }
    openMessages += 1;
    try {
      const chosen = await show(safeText(message), ...shown);
      return chosen === undefined ? undefined : buttons[shown.indexOf(chosen)];
    } finally {
      openMessages -= 1;
    }
  };

/** What an item of the status bar shows. */
export interface StatusBarText {
  /** The id of a codicon. */
  readonly icon: string;
  readonly text: string;
  /** The text for screen readers. */
  readonly spoken: AccessibilityInformation;
  readonly tooltip?: MarkdownString;
  readonly isWarning?: boolean;
}

export const window = {
  showInformationMessage: withSafeTexts((...texts) => vscodeWindow.showInformationMessage(...texts)),
  showWarningMessage: withSafeTexts((...texts) => vscodeWindow.showWarningMessage(...texts)),
  showErrorMessage: withSafeTexts((...texts) => vscodeWindow.showErrorMessage(...texts)),

  /** Asks a modal question, to which VS Code adds Cancel. @param detail the consequences. @param buttons verbs */
  ask(question: string, detail: string, ...buttons: string[]): Thenable<string | undefined> {
    const options = { modal: true, detail: safeLines(detail) };
    const show: ShowMessage = (text, ...items) => vscodeWindow.showWarningMessage(text, options, ...items);
    return withSafeTexts(show)(question, ...buttons);
  },

  /** Shows a modal message with an action and Close. @returns whether the user chose the action */
  async showResult(message: string, detail: string, action: string): Promise<boolean> {
    const options = { modal: true, detail: safeLines(detail) };
    const button = { title: safeText(action) };
    // Without a close button, VS Code would add “Cancel”, although the change was made.
    const close = { title: l10n.t('Close'), isCloseAffordance: true };
    return (await vscodeWindow.showInformationMessage(safeText(message), options, button, close)) === button;
  },

  async showInputBox({ validateInput, ...options }: SafeInputBoxOptions): Promise<string | undefined> {
    const safe = safeFields<InputBoxOptions>(options, ['title', 'prompt', 'placeHolder']);
    const problemOf = (text: string) => safeText(validateInput(text) ?? '');
    return await vscodeWindow.showInputBox({ ...safe, validateInput: problemOf });
  },

  withProgress: <T>(
    options: ProgressOptions,
    task: (progress: Progress<{ message?: string }>, token: CancellationToken) => Thenable<T>,
  ): Thenable<T> =>
    vscodeWindow.withProgress(safeFields(options, ['title']), (progress, token) =>
      task({ report: (value) => progress.report(safeFields(value, ['message'])) }, token),
    ),

  createTerminal: (options: TerminalOptions): Terminal =>
    vscodeWindow.createTerminal(safeFields(options, ['name'])),

  createPseudoterminal: (options: ExtensionTerminalOptions): Terminal =>
    vscodeWindow.createTerminal(safeFields(options, ['name'])),

  /** Creates an item on the left of the status bar. */
  createStatusBarItem(id: string, name: string, priority: number, command?: CommandId) {
    const item = vscodeWindow.createStatusBarItem(id, StatusBarAlignment.Left, priority);
    item.name = name;
    item.command = command;
    return {
      show({ icon, text, spoken, tooltip, isWarning = false }: StatusBarText) {
        item.text = `$(${icon}) ${safeText(text)}`;
        item.tooltip = tooltip;
        item.backgroundColor = isWarning ? new ThemeColor('statusBarItem.warningBackground') : undefined;
        item.accessibilityInformation = safeFields(spoken, ['label']);
        item.show();
      },
      hide: () => item.hide(),
      dispose: () => item.dispose(),
    };
  },
};

interface SafeInputBoxOptions extends InputBoxOptions {
  validateInput: (text: string) => string | undefined;
}

export type StatusBarItem = ReturnType<typeof window.createStatusBarItem>;
