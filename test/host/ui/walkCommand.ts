import { until } from '../../workbench/until.ts';
import type { Workbench } from '../../workbench/workbench.ts';
import { closeEditors } from './resetWindow.ts';

const MOST_QUESTIONS = 8;

/** Everything that shows where a command is: its questions, and its result. */
const STATE = `(() => {
  const shown = (selector) => [...document.querySelectorAll(selector)].filter((each) => each.offsetParent !== null);
  const widget = shown('.quick-input-widget')[0];
  const field = widget?.querySelector('.quick-input-box input');
  return {
    question: widget && [widget.querySelector('.quick-input-title')?.textContent, field?.placeholder, widget.querySelector('.quick-input-message')?.textContent].join('\\n'),
    items: widget === undefined ? 0 : widget.querySelectorAll('.quick-input-list .monaco-list-row').length,
    isList: widget !== undefined && shown('.quick-input-list').length > 0,
    dialog: shown('.monaco-dialog-box')[0]?.textContent,
    isNotified: document.querySelector('[id="status.notifications"] .codicon-bell-dot') !== null,
    announced: (globalThis.announcements ?? []).length,
    tabs: document.querySelectorAll('.editor-group-container .tab').length,
    isEditorFocused: Boolean(document.activeElement?.closest('.part.editor .monaco-editor, iframe.webview')),
    selected: [...document.querySelectorAll('.pane-body [role="treeitem"][aria-selected="true"]')].map((row) => row.id + (row.getAttribute('aria-label') ?? '').split(',')[0]).join(),
    isPending: document.querySelector('.statusbar [id$=".operations"]:not(.hidden)') !== null,
  };
})()`;

interface State {
  readonly question?: string;
  readonly items: number;
  readonly isList: boolean;
  readonly dialog?: string;
  readonly isNotified: boolean;
  readonly announced: number;
  readonly tabs: number;
  /** A page takes the focus once it is loaded, which would close the command palette. */
  readonly isEditorFocused: boolean;
  /** Their places, kinds and ids. The rest of a row also changes when the service reports a state, whenever that is. */
  readonly selected: string;
  readonly isPending: boolean;
}

/** What shows that a command has ended. Some announce or open something earlier, or show progress. */
type End = 'editor' | 'notification' | 'announcement' | 'selection' | 'answer' | 'any';

function endOf(title: string): End {
  if (title.includes('Schema')) return 'editor';
  // They offer Undo, or give a reason.
  if (/^Write |This Git Branch|Database Branch|Tidy Up/.test(title)) return 'notification';
  // It shows a document before its last question.
  if (title.startsWith('Copy MCP')) return 'announcement';
  // It selects a row, which may be the selected one.
  if (title.startsWith('Find ')) return 'answer';
  // They select what they created, which closes any prompt. So wait before the next command.
  return /^Create (Branch|Compute|Project)/.test(title) ? 'selection' : 'any';
}

async function hasEnded(end: End, now: State, start: State, { notifications }: Workbench) {
  if (end === 'answer') return true;
  if (end === 'editor' || (end === 'any' && now.tabs !== start.tabs))
    return now.tabs !== start.tabs && now.isEditorFocused;
  if ((end === 'any' || end === 'announcement') && now.announced !== start.announced) return true;
  if (end !== 'notification' && end !== 'announcement' && now.selected !== start.selected) return true;
  // The page has the notification only while the center is open. VS Code's own ones don't count.
  if (!now.isNotified || (await notifications.all()).length > 0) return now.isNotified;
  await notifications.clear();
  return false;
}

/**
 * Runs a command and takes the first answer to each of its questions until it ends. It deletes nothing.
 */
export async function walkCommand(workbench: Workbench, title: string): Promise<void> {
  const { page, notifications } = workbench;
  const end = endOf(title);
  const read = () => page.evaluate<State>(STATE);
  // Otherwise the end of an earlier change could be taken for the end of this command.
  await until(`the changes before ${title} to end`, async () => {
    const { isPending, isNotified } = await read();
    if (isNotified) await notifications.clear();
    return !isPending && !isNotified;
  });
  // Otherwise the command could show a document that is open, which changes nothing.
  await closeEditors(workbench);
  const start = await read();
  await workbench.run(title);
  let last = '';
  for (let count = 0; ; count += 1) {
    const state = await until(`${title} to continue after “${last}”`, async () => {
      const now = await read();
      if (now.dialog !== undefined) return now;
      // A prompt opens a moment after the palette has closed.
      if (end === 'answer' && last === '' && now.question === undefined) return false;
      if (now.question === undefined) return (await hasEnded(end, now, start, workbench)) && now;
      return now.question !== last && (!now.isList || now.items > 0) && now;
    });
    if (state.dialog !== undefined) {
      if (!(await confirm(workbench))) break;
      last = '';
    } else if (state.question === undefined) break;
    else if (count >= MOST_QUESTIONS || state.question.includes('to continue.')) {
      // The name of the changed resource must be entered.
      await workbench.quickInput.press('Escape');
      await workbench.quickInput.closed();
      break;
    } else {
      last = state.question;
      // The text may be too long to be accepted.
      if (!state.isList) await workbench.quickInput.type(/./, 'a-name');
      await workbench.quickInput.press('Enter');
    }
  }
  if (end === 'editor')
    await until(`the progress of ${title} to end`, async () => !(await read()).isNotified);
  else await notifications.clear();
}

/** @returns false if it was canceled because it would remove something */
async function confirm({ dialog }: Workbench): Promise<boolean> {
  const { buttons } = await dialog.read();
  const button = buttons.find(
    (each) => !/^(Cancel|Close|Keep As It Is|Delete|Remove|Revoke|Reset)/.test(each),
  );
  await dialog.press(button ?? 'Cancel');
  return button !== undefined;
}
