/** What is under way, in the status bar: hidden when nothing is. It also says how each change ended. */
import { l10n, MarkdownString, StatusBarAlignment, window, type StatusBarItem } from 'vscode';
import { DisposableStore, type Disposable } from '../base/disposable.ts';
import { labelOf } from '../model/computeStatus.ts';
import type { OperationTracker } from '../model/operationTracker.ts';
import { openOperations, type ChangeEnd, type PendingChange } from '../model/pendingChange.ts';
import type { WakeUps } from '../model/wakeUps.ts';
import { announce } from './announce.ts';
import { ended, operationsOf, underway } from './changeWords.ts';
import { markdown, plain } from './plain.ts';

export class PendingOperations implements Disposable {
  readonly #tracker: OperationTracker;
  #made: StatusBarItem | undefined;
  readonly #held = new DisposableStore();

  /**
   * @param isShown whether the end of a change is shown where it was made, and need not be announced
   * @param reveal shows the compute of a change
   */
  constructor(
    tracker: OperationTracker,
    isShown: (end: ChangeEnd) => boolean,
    reveal: (change: PendingChange) => void,
  ) {
    this.#tracker = tracker;
    this.#held.add(tracker.onDidChange(() => this.#update()));
    this.#held.add(
      tracker.onDidEnd((end) => {
        if (!isShown(end)) void tell(end, reveal);
      }),
    );
    this.#update();
  }

  dispose(): void {
    this.#held.dispose();
  }

  /** Made with the first operation. */
  get #item(): StatusBarItem {
    if (this.#made !== undefined) return this.#made;
    const item = window.createStatusBarItem('hostedPostgres.operations', StatusBarAlignment.Left, 0);
    item.name = l10n.t('Hosted Postgres Operations');
    item.command = 'hostedPostgres.operations.show';
    this.#made = this.#held.add(item);
    return item;
  }

  #update(): void {
    const { pending } = this.#tracker;
    if (pending.length === 0) return this.#made?.hide();
    const count = openOperations(pending);
    const words = count === 1 ? l10n.t('1 operation') : l10n.t('{0} operations', count);
    this.#item.text = `$(sync~spin) ${words}`;
    const lines = pending.map(
      (change) => `- ${markdown(underway(change))} (${markdown(operationsOf(change))})`,
    );
    this.#item.tooltip = new MarkdownString(lines.join('\n'));
    const label = l10n.t('Hosted Postgres: {0} pending. {1}', words, pending.map(underway).join(', '));
    this.#item.accessibilityInformation = { label };
    this.#item.show();
  }
}

/** Says that computes have woken without anybody in this window asking for it. */
export const announceWakeUps = (wakeUps: WakeUps): Disposable =>
  wakeUps.onDidWake((computes) => {
    const [first] = computes;
    if (first === undefined) return;
    const words =
      computes.length === 1
        ? l10n.t('{0} is awake', plain(labelOf(first)))
        : l10n.t('{0} computes are awake', computes.length);
    announce(words, 'circle-filled');
  });

async function tell(end: ChangeEnd, reveal: (change: PendingChange) => void): Promise<void> {
  const words = ended(end);
  if (end.outcome === 'finished') return announce(words);
  const show = l10n.t('Show Compute');
  // There is none where the whole project is gone.
  const actions = end.outcome === 'lost' ? [] : [show];
  if ((await window.showWarningMessage(words, ...actions)) === show) reveal(end.change);
}
