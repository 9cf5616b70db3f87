/** Shows pending operations in the status bar, and how each change ended. */
import { l10n } from 'vscode';
import { DisposableStore, type Disposable } from '../../base/disposable.ts';
import { labelOf } from '../../model/inventory/computeStatus.ts';
import type { Inventory } from '../../model/inventory/inventory.ts';
import { watchWokenComputes } from '../../model/inventory/wokenComputes.ts';
import type { OperationTracker } from '../../model/operations/operationTracker.ts';
import {
  countOpenOperations,
  type EndReport,
  type PendingChange,
} from '../../model/operations/pendingChange.ts';
import { endText, operationsText, pendingText } from '../text/changeText.ts';
import { markdownList } from '../text/markdown.ts';
import { sanitize } from '../text/sanitize.ts';
import { announce } from './announce.ts';
import { window, type StatusBarItem } from '../window.ts';

export class OperationsStatusBar implements Disposable {
  readonly #tracker: OperationTracker;
  #created: StatusBarItem | undefined;
  readonly #disposables = new DisposableStore();

  /**
   * @param isShown whether an editor already shows the end of this change
   * @param reveal selects what was changed in the tree
   */
  constructor(
    tracker: OperationTracker,
    isShown: (end: EndReport) => boolean,
    reveal: (change: PendingChange) => void,
  ) {
    this.#tracker = tracker;
    this.#disposables.add(tracker.onDidChange(() => this.#update()));
    this.#disposables.add(
      tracker.onDidEnd((end) => {
        if (!isShown(end)) void showEnd(end, reveal);
      }),
    );
    this.#update();
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  /** Created with the first operation. */
  get #item(): StatusBarItem {
    if (this.#created !== undefined) return this.#created;
    const name = l10n.t('Hosted Postgres Operations');
    const command = 'hostedPostgres.operations.show';
    const item = window.createStatusBarItem('hostedPostgres.operations', name, 0, command);
    return (this.#created = this.#disposables.add(item));
  }

  #update(): void {
    const { pending } = this.#tracker;
    if (pending.length === 0) return this.#created?.hide();
    const count = countOpenOperations(pending);
    const operations = count === 1 ? l10n.t('1 operation') : l10n.t('{0} operations', count);
    const lines = pending.map((change) => `${pendingText(change)} (${operationsText(change)})`);
    const label = l10n.t(
      'Hosted Postgres: {0} pending. {1}',
      operations,
      pending.map(pendingText).join(', '),
    );
    this.#item.show({
      icon: 'sync~spin',
      text: operations,
      spoken: { label },
      tooltip: markdownList(lines),
    });
  }
}

/** Announces computes that became active without a change made in this window. */
export const announceStarts = (inventory: Inventory, tracker: OperationTracker): Disposable =>
  watchWokenComputes(
    inventory,
    (compute) => tracker.isFollowing(compute),
    (computes) => {
      const [first] = computes;
      if (first === undefined) return;
      const message =
        computes.length === 1
          ? l10n.t('{0} is active', sanitize(labelOf(first)))
          : l10n.t('{0} computes are active', computes.length);
      announce(message, 'circle-filled');
    },
  );

async function showEnd(end: EndReport, reveal: (change: PendingChange) => void): Promise<void> {
  const message = endText(end);
  if (end.outcome === 'finished') return announce(message);
  const show = end.change.computeId === undefined ? l10n.t('Show Branch') : l10n.t('Show Compute');
  // Nothing to show if the project was deleted.
  const actions = end.outcome === 'lost' ? [] : [show];
  if ((await window.showWarningMessage(message, ...actions)) === show) reveal(end.change);
}
