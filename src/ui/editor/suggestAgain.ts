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
  void loading.then(() => {
    if (latest !== mine || !isWorthIt()) return;
    const editor = window.activeTextEditor;
    const isSamePlace = editor?.document === document && editor.selection.active.isEqual(position);
    if (!isSamePlace || document.version !== version) return;
    void commands.executeCommand('editor.action.triggerSuggest');
  });
}
