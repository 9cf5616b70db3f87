/**
 * VS Code's window functions for text that may come from the service: in messages and prompts, VS Code turns
 * `[text](command:…)` into a link that runs the command. All other files use these, which `test/unit/architecture.test.ts`
 * checks.
 */
import {
  StatusBarAlignment,
  ThemeColor,
  window as vscodeWindow,
  type AccessibilityInformation,
  type CancellationToken,
  type InputBoxOptions,
  type MarkdownString,
  type MessageItem,
  type MessageOptions,
  type Progress,
  type ProgressOptions,
  type QuickPickItem,
  type Terminal,
  type TerminalOptions,
  type TreeItem,
  type TreeView,
} from 'vscode';
import { sanitize } from '../base/sanitize.ts';

/** Characters. VS Code cuts off longer messages. Ours are shorter, even with three long names. */
const MAX_LENGTH = 1000;

export const safeText = (text: string): string => sanitize(text, MAX_LENGTH);

/** For the details of a modal message, the only text with several lines. */
const safeLines = (text: string): string => text.split('\n').map(safeText).join('\n');

/** A copy with safe text in these fields. Fields that aren't text stay as they are. */
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
  view.message = safeText(text);
}

/** Sets the text next to the title of a view. */
export function setViewDescription(view: Pick<TreeView<unknown>, 'description'>, text: string): void {
  view.description = safeText(text);
}

/** Changes the row in place, because VS Code already has it. */
export function safeRow(row: TreeItem): TreeItem {
  const { accessibilityInformation: spoken } = row;
  Object.assign(row, safeFields(row, ['label', 'description', 'tooltip']));
  if (spoken !== undefined) row.accessibilityInformation = safeFields(spoken, ['label']);
  return row;
}

type Button = string | MessageItem;

interface ShowMessage {
  <B extends Button>(message: string, options: MessageOptions, ...buttons: B[]): Promise<B | undefined>;
  (message: string, ...buttons: string[]): Promise<string | undefined>;
}

type Show = (message: string, options: MessageOptions, ...items: MessageItem[]) => Thenable<unknown>;

const safeButton = (button: Button): MessageItem =>
  typeof button === 'string' ? { title: safeText(button) } : safeFields(button, ['title']);

/** @param show finds the function of VS Code when it is called */
function messages(show: () => Show): ShowMessage {
  const showSafe = async <B extends Button>(message: string, options: MessageOptions, buttons: B[]) => {
    const items = buttons.map(safeButton);
    const { detail } = options;
    const lines = detail === undefined ? {} : { detail: safeLines(detail) };
    const chosen = await show()(safeText(message), { ...options, ...lines }, ...items);
    return buttons[items.findIndex((item) => item === chosen)];
  };
  return async <B extends Button>(message: string, first?: MessageOptions | string, ...others: B[]) =>
    typeof first === 'object'
      ? await showSafe(message, first, others)
      : await showSafe(message, {}, first === undefined ? [] : [first, ...others]);
}

export interface StatusBarText {
  /** The id of a codicon. */
  readonly icon: string;
  readonly text: string;
  /** For screen readers. */
  readonly spoken: AccessibilityInformation;
  readonly tooltip?: MarkdownString;
  readonly isWarning?: boolean;
}

export const window = {
  showInformationMessage: messages(() => vscodeWindow.showInformationMessage),
  showWarningMessage: messages(() => vscodeWindow.showWarningMessage),
  showErrorMessage: messages(() => vscodeWindow.showErrorMessage),

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

  /** Creates an item on the left of the status bar. */
  createStatusBarItem(id: string, name: string, priority: number, command?: string) {
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
