import { window, type TreeView } from 'vscode';
import { DisposableStore, type Disposable } from '../base/disposable.ts';
import type { BackgroundRefresh } from '../model/backgroundRefresh.ts';
import type { Config } from './config.ts';

/** Refreshes in the background while the view is visible and the window has the focus. */
export function refreshWhileSeen(
  refresh: BackgroundRefresh,
  view: Pick<TreeView<unknown>, 'visible' | 'onDidChangeVisibility'>,
  config: Pick<Config, 'onDidChange'>,
): Disposable {
  const held = new DisposableStore();
  const update = () => refresh.setWanted(view.visible && window.state.focused);
  held.add(view.onDidChangeVisibility(update));
  held.add(window.onDidChangeWindowState(update));
  held.add(config.onDidChange(update));
  update();
  return held;
}
