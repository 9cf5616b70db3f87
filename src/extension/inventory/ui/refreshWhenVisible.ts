import { window, type TreeView } from 'vscode';
import { DisposableStore, type Disposable } from '../../../base/disposable.ts';
import type { BackgroundRefresh } from '../refresh/backgroundRefresh.ts';
import type { Config } from '../../window/ui/config.ts';

/** Refreshes in the background while the view is visible and the window has the focus. */
export function refreshWhenVisible(
  refresh: Pick<BackgroundRefresh, 'setVisible'>,
  view: Pick<TreeView<unknown>, 'visible' | 'onDidChangeVisibility'>,
  config: Pick<Config, 'onDidChange'>,
): Disposable {
  const disposables = new DisposableStore();
  const update = () => refresh.setVisible(view.visible && window.state.focused);
  disposables.add(view.onDidChangeVisibility(update));
  disposables.add(window.onDidChangeWindowState(update));
  disposables.add(config.onDidChange(update));
  update();
  return disposables;
}
