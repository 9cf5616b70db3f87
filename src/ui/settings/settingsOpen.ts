/** What is open in the window: settings documents, their unsaved changes and their tabs. */
import {
  TabInputText,
  TabInputTextDiff,
  window,
  workspace,
  type Tab,
  type TextDocument,
  type Uri,
} from 'vscode';

export const documentOf = (uri: Uri): TextDocument | undefined =>
  workspace.textDocuments.find((document) => document.uri.toString() === uri.toString());

/** Whether a tab shows the document, alone or in a comparison. */
export const isShown = (uri: Uri): boolean => tabsOf(uri).length > 0;

/** Closes what shows the document, unless that would lose changes. */
export async function closeUnchanged(uri: Uri): Promise<void> {
  const tabs = tabsOf(uri).filter((tab) => !tab.isDirty);
  if (tabs.length > 0) await window.tabGroups.close(tabs, true);
}

const tabsOf = (uri: Uri): Tab[] =>
  window.tabGroups.all
    .flatMap(({ tabs }) => tabs)
    .filter((tab) => shownIn(tab).some((shown) => shown.toString() === uri.toString()));

function shownIn({ input }: Tab): readonly Uri[] {
  if (input instanceof TabInputText) return [input.uri];
  return input instanceof TabInputTextDiff ? [input.original, input.modified] : [];
}
