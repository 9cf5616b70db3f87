/** Shows pending operations in the status bar, and the result of each change. */
import { l10n } from 'vscode';
import { systemClock, type Clock } from '../../../base/clock.ts';
import { DisposableStore, toDisposable, type Disposable } from '../../../base/disposable.ts';
import type { Inventory } from '../../inventory/inventory.ts';
import { watchWokenComputes } from '../wokenComputes.ts';
import type { OperationTracker } from '../operationTracker.ts';
import type { ChangeEnd, PendingChange } from '../pendingChange.ts';
import { changeEndText, operationsText, pendingText } from './changeText.ts';
import { markdownList } from '../../window/ui/markdown.ts';
import { computeNodeOf } from '../../inventory/nodes.ts';
import { resourceText } from '../../inventory/ui/resourceText.ts';
import { announce } from '../../window/ui/announce.ts';
import { window, type StatusBarItem, type StatusBarText } from '../../window/ui/window.ts';

/**
 * @param isShown whether an editor already shows the result of this change
 * @param reveal selects what was changed in the tree
 */
export function showPendingChanges(
  tracker: OperationTracker,
  isShown: (end: ChangeEnd) => boolean,
  reveal: (change: PendingChange) => void,
  clock: Clock = systemClock,
): Disposable {
  const disposables = new DisposableStore();
  disposables.add(announceSlowChanges(tracker, clock));
  let item: StatusBarItem | undefined;
  const update = () => {
    const { pending } = tracker;
    if (pending.length === 0) return item?.hide();
    item ??= disposables.add(createStatusBarItem());
    item.show(statusBarText(pending));
  };
  disposables.add(tracker.onDidChange(update));
  disposables.add(
    tracker.onDidEnd((end) => {
      if (!isShown(end)) void showEndOfChange(end, reveal, clock);
    }),
  );
  update();
  return disposables;
}

/** Milliseconds after which the start of a change is announced. If a change ends sooner, only its end is announced. */
const SLOW = 1000;

/**
 * Announces the start of changes that take long. Screen readers don't read the item of pending changes by themselves. They do read
 * a notification.
 */
function announceSlowChanges(tracker: OperationTracker, clock: Clock): Disposable {
  const timers = new Map<string, Disposable>();
  /** The pending change whose beginning was announced. */
  let announced: string | undefined;
  const announceBeginning = (change: PendingChange) => {
    // The announcements of many changes, such as the deletions of a clean-up, would wait for their turn until the changes have
    // ended.
    if (announced !== undefined) return;
    announced = change.id;
    announce(pendingText(change), 'sync', clock);
  };
  const update = () => {
    const changes = tracker.pending.filter(
      ({ isQuiet, hasNotification }) => isQuiet !== true && hasNotification !== true,
    );
    for (const [id, timer] of timers)
      if (!changes.some((change) => change.id === id)) {
        timer.dispose();
        timers.delete(id);
        if (announced === id) announced = undefined;
      }
    for (const change of changes)
      if (!timers.has(change.id))
        timers.set(
          change.id,
          clock.after(SLOW, () => announceBeginning(change)),
        );
  };
  const listener = tracker.onDidChange(update);
  update();
  return toDisposable(() => {
    listener.dispose();
    for (const timer of timers.values()) timer.dispose();
  });
}

function createStatusBarItem(): StatusBarItem {
  const name = l10n.t('Hosted Postgres Operations');
  return window.createStatusBarItem('hostedPostgres.operations', name, 0, 'hostedPostgres.operations.show');
}

function statusBarText(pending: readonly PendingChange[]): StatusBarText {
  // To the user, a change is one operation, even if the service takes several steps.
  const count = pending.length;
  const text = count === 1 ? l10n.t('1 operation') : l10n.t('{0} operations', count);
  const lines = pending.map((change) => `${pendingText(change)} (${operationsText(change)})`);
  const changes = pending.map(pendingText).join(', ');
  const spoken = { label: l10n.t('Hosted Postgres: {0} pending. {1}', text, changes) };
  return { icon: 'sync~spin', text, spoken, tooltip: markdownList(lines) };
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
          ? l10n.t('Now active: {0}', resourceText(inventory, computeNodeOf(first)))
          : l10n.t('{0} computes are active', computes.length);
      announce(message, 'circle-filled');
    },
  );

async function showEndOfChange(
  end: ChangeEnd,
  reveal: (change: PendingChange) => void,
  clock: Clock,
): Promise<void> {
  const message = changeEndText(end);
  if (end.outcome === 'finished') {
    if (end.change.isQuiet !== true) announce(message, 'check', clock);
    return;
  }
  const show = end.change.computeId === undefined ? l10n.t('Show Branch') : l10n.t('Show Compute');
  // A deleted project can't be revealed.
  const actions = end.outcome === 'lost' ? [] : [show];
  if ((await window.showWarningMessage(message, ...actions)) === show) reveal(end.change);
}
