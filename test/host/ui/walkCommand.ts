import { until } from '../../workbench/until.ts';
import type { Workbench } from '../../workbench/workbench.ts';

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
    isBusy: widget !== undefined && shown('.quick-input-widget .monaco-progress-container.active').length > 0,
    dialog: shown('.monaco-dialog-box')[0]?.textContent,
    isNotified: document.querySelector('[id="status.notifications"] .codicon-bell-dot') !== null,
    announced: (globalThis.announcements ?? []).length,
    tabs: document.querySelectorAll('.editor-group-container .tab').length,
    selected: [...document.querySelectorAll('.pane-body [role="treeitem"][aria-selected="true"]')].map((row) => row.id + row.getAttribute('aria-label')).join(),
    isPending: document.querySelector('.statusbar [id$=".operations"]:not(.hidden)') !== null,
  };
})()`;

interface State {
  readonly question?: string;
  readonly items: number;
  readonly isList: boolean;
  readonly isBusy: boolean;
  readonly dialog?: string;
  readonly isNotified: boolean;
  readonly announced: number;
  readonly tabs: number;
  readonly selected: string;
  readonly isPending: boolean;
}

/**
 * Runs a command and takes the first answer to each of its questions until it ends. It deletes nothing.
 */
export async function walkCommand(workbench: Workbench, title: string): Promise<void> {
  const { page, notifications } = workbench;
  const read = () => page.evaluate<State>(STATE);
  // Otherwise the end of an earlier change could be taken for the end of this command.
  const start = await until(`the changes before ${title} to end`, async () => {
    const now = await read();
    return !now.isPending && now;
  });
  // At their end, these commands select what they created, which closes any prompt. So wait before the next command.
  const selects = /Create (Branch|Compute|Project)/.test(title);
  const isEnd = (state: State) =>
    state.isNotified ||
    state.selected !== start.selected ||
    (!selects && (state.announced !== start.announced || state.tabs !== start.tabs));
  await workbench.runCommand(title);
  let last = '';
  for (let count = 0; ; count += 1) {
    const state = await until(`${title} to continue after “${last}”`, async () => {
      const now = await read();
      const isNew = now.dialog !== undefined || (now.question !== undefined && now.question !== last);
      const isReady = now.dialog !== undefined || !now.isList || !now.isBusy;
      return now.question === undefined && now.dialog === undefined
        ? isEnd(now) && now
        : isNew && isReady && now;
    });
    if (state.dialog !== undefined) {
      if (!(await confirm(workbench))) break;
      last = '';
    } else if (state.question === undefined) break;
    else if (count >= MOST_QUESTIONS || isUnanswerable(state)) {
      await page.keyboard.press('Escape');
      await workbench.quickInput.closed();
      break;
    } else {
      last = state.question;
      if (!state.isList) {
        // The text may be too long to be accepted.
        await page.keyboard.press('ControlOrMeta+a');
        await page.keyboard.type('a-name');
      }
      await page.keyboard.press('Enter');
    }
  }
  if ((await read()).isNotified) {
    // Opened, so that it is in the page.
    await notifications.all();
    await notifications.clear();
  }
}

/** Whether the list is empty, or the name of the changed resource must be entered. */
const isUnanswerable = ({ question = '', isList, items }: State): boolean =>
  (isList && items === 0) || question.includes('to continue.');

/** @returns false if it was canceled because it would remove something */
async function confirm({ dialog }: Workbench): Promise<boolean> {
  const { buttons } = await dialog.read();
  const button = buttons.find((each) => !/^(Cancel|Close|Delete|Remove|Revoke|Reset)/.test(each));
  await dialog.press(button ?? 'Cancel');
  return button !== undefined;
}
