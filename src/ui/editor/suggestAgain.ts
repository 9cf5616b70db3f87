import { commands, window, type Position, type TextDocument } from 'vscode';

let latest: object | undefined;

/**
 * Fills a list that could only say “loading”: asks VS Code to suggest again once the load has ended, unless the user
 * has typed or moved on meanwhile, or there is nothing to suggest.
 */
export function suggestAgain(
  document: TextDocument,
  position: Position,
  loading: Promise<void>,
  isWorthIt: () => boolean,
): void {
  const mine = {};
  latest = mine;
  const { version } = document;
  const cursor = () => {
    const editor = window.activeTextEditor;
    return editor?.document === document ? editor.selection.active : undefined;
  };
  // Where the cursor is told to be lags behind the text that was typed.
  const before = cursor();
  void loading.then(() => {
    const now = cursor();
    const hasStayed = now !== undefined && (now.isEqual(position) || now === before);
    if (latest !== mine || !hasStayed || document.version !== version || !isWorthIt()) return;
    void ask();
  });
}

async function ask(): Promise<void> {
  // VS Code does not suggest anew as long as it shows a list.
  await commands.executeCommand('hideSuggestWidget');
  await commands.executeCommand('editor.action.triggerSuggest');
}
