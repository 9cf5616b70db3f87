/** Offers once to show names in the place of ids, which fill a narrow side bar. */
import { l10n, window as vscodeWindow, type TreeView } from 'vscode';
import { DisposableStore, type Disposable } from '../../../base/disposable.ts';
import type { Session } from '../../account/session.ts';
import type { NameOrder } from '../../window/ui/idAndName.ts';
import { executeCommand } from '../../window/ui/executeCommand.ts';
import { window } from '../../window/ui/window.ts';
import type { Inventory } from '../inventory.ts';
import { isQuiet } from './isQuiet.ts';

interface OfferDependencies {
  readonly session: Session;
  readonly inventory: Inventory;
  readonly nameOrder: NameOrder;
}

/** Listens without timers and requests until the user has chosen, in this window or in another one. */
export function offerNames(deps: OfferDependencies, view: TreeView<unknown>): Disposable {
  const disposables = new DisposableStore();
  const update = () => {
    if (deps.nameOrder.isChosen) return disposables.dispose();
    if (view.visible && isQuiet(deps)) void offer(deps.nameOrder);
  };
  for (const member of [
    deps.inventory.onDidChange(update),
    view.onDidChangeVisibility(update),
    vscodeWindow.onDidChangeWindowState(update),
  ])
    disposables.add(member);
  return disposables;
}

async function offer(nameOrder: NameOrder): Promise<void> {
  // The question is asked once, even if the user ignores it.
  await nameOrder.change(false);
  const names = l10n.t('Show Names First');
  const question = l10n.t('Show branches and computes by name in the place of their id?');
  const chosen = await window.showInformationMessage(question, names, l10n.t('Keep Ids'));
  if (chosen === names) await executeCommand('hostedPostgres.view.showNamesFirst');
}
