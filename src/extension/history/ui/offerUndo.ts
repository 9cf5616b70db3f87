/** Offers the database as it was before later migrations, after git has gone back to an earlier commit. A setting turns this on. */
import { l10n, window as vscodeWindow, workspace } from 'vscode';
import { systemClock } from '../../../base/clock.ts';
import { DisposableStore, type Disposable } from '../../../base/disposable.ts';
import type { Session } from '../../account/session.ts';
import { runGit } from '../../window/ui/git.ts';
import type { WorkFolders } from '../../gitBranch/ui/workFolders.ts';
import type { WorkFolder } from '../../gitBranch/workFolder.ts';
import { resourceText } from '../../inventory/ui/resourceText.ts';
import type { Inventory } from '../../inventory/inventory.ts';
import type { Config } from '../../window/ui/config.ts';
import { executeCommand } from '../../window/ui/executeCommand.ts';
import type { Log } from '../../window/ui/log.ts';
import { window } from '../../window/ui/window.ts';
import type { Markers } from '../markers.ts';
import { watchHeadLog } from '../watchHeadLog.ts';
import { offerAfterCheckout, type MigrationOffer } from '../offerAfterCheckout.ts';
import { clockText } from '../../window/ui/timeText.ts';

interface Dependencies {
  readonly workFolders: WorkFolders;
  readonly session: Session;
  readonly inventory: Inventory;
  readonly markers: Markers;
  readonly config: Config;
  readonly log: Log;
}

/** Milliseconds without another change until git is read. A rebase or two quick checkouts change HEAD several times. */
const SETTLE = 300;

export function offerUndoAfterCheckout(deps: Dependencies): Disposable {
  const { workFolders, config, log } = deps;
  const disposables = new DisposableStore();
  const watchers = new Map<WorkFolder, Disposable>();
  /** The folders in which git did something since the last check. */
  const pending = new Set<WorkFolder>();
  /** The offers whose message is still open, as JSON. */
  const shownOffers = new Set<string>();
  let timer: Disposable | undefined;
  const check = async (work: WorkFolder) => {
    // The folder may first follow git, and so point the env file to another branch.
    await work.refresh();
    const find = () => offerAfterCheckout({ ...deps, runGit }, work);
    const offer = await find();
    const key = JSON.stringify(offer);
    if (offer === undefined || shownOffers.has(key)) return;
    shownOffers.add(key);
    try {
      await showOffer(deps, offer, async () => JSON.stringify(await find()) === key);
    } finally {
      shownOffers.delete(key);
    }
  };
  // If several windows have the folder, the one with the focus asks.
  const checkPending = () => {
    if (!vscodeWindow.state.focused) return;
    for (const work of pending)
      if (config.offersUndoAfterCheckout)
        void check(work).catch((error: unknown) => log.error('Offering an earlier state', error));
    pending.clear();
  };
  const watch = () => {
    const current = new Set<WorkFolder>();
    for (const folder of workspace.workspaceFolders ?? []) {
      const work = workFolders.of(folder);
      const { repository, map } = work?.state ?? {};
      if (work === undefined || repository === undefined || map?.isFollowed !== true) continue;
      current.add(work);
      if (watchers.has(work)) continue;
      const schedule = () => {
        pending.add(work);
        timer?.dispose();
        timer = systemClock.after(SETTLE, checkPending);
      };
      watchers.set(work, watchHeadLog(repository, schedule));
    }
    stopOtherWatchers(current, watchers);
  };
  watch();
  disposables.add(workFolders.onDidChange(watch));
  disposables.add(vscodeWindow.onDidChangeWindowState(checkPending));
  disposables.add({
    dispose() {
      timer?.dispose();
      stopOtherWatchers(new Set(), watchers);
    },
  });
  return disposables;
}

/** Ends the watchers of folders that were closed or are no longer followed. */
function stopOtherWatchers(current: ReadonlySet<WorkFolder>, watchers: Map<WorkFolder, Disposable>): void {
  for (const [work, watcher] of watchers) {
    if (current.has(work)) continue;
    watchers.delete(work);
    watcher.dispose();
  }
}

/** @param isCurrent whether the same would be offered now */
async function showOffer(
  { inventory }: Dependencies,
  { ref, source, count, time }: MigrationOffer,
  isCurrent: () => Promise<boolean>,
): Promise<void> {
  const { projectId, branchId } = ref;
  const name = resourceText(inventory, { projectId, branchId });
  const clock = clockText(time);
  const question =
    count === 1
      ? l10n.t(
          "{0} has a migration that this commit doesn't have. Take the database branch back to just before it ({1})?",
          name,
          clock,
        )
      : l10n.t(
          "{0} has {1} migrations that this commit doesn't have. Take the database branch back to just before them ({2})?",
          name,
          count,
          clock,
        );
  const accept = l10n.t('Go Back');
  if ((await window.showInformationMessage(question, accept)) !== accept) return;
  if (await isCurrent())
    return void (await executeCommand('hostedPostgres.undo', {
      kind: 'branch',
      projectId,
      branchId,
      source,
    }));
  const changed = l10n.t(
    'Another commit or other migrations have been checked out in the meantime, so {0} was not changed.',
    name,
  );
  void window.showInformationMessage(changed);
}
