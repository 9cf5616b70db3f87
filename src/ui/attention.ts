import { window, type TreeView } from 'vscode';
import { DisposableStore, type Disposable } from '../base/disposable.ts';
import type { BackgroundRefresh } from '../model/backgroundRefresh.ts';
import type { Config } from './config.ts';

/** Refreshes in the background while somebody can see the view: it is open, and the window has the focus. */
export function refreshWhileSeen(
  refresh: BackgroundRefresh,
  view: Pick<TreeView<unknown>, 'visible' | 'onDidChangeVisibility'>,
  config: Pick<Config, 'onDidChange'>,
): Disposable {
  const held = new DisposableStore();
  const look = () => refresh.setWanted(view.visible && window.state.focused);
  held.add(view.onDidChangeVisibility(look));
  held.add(window.onDidChangeWindowState(look));
  held.add(config.onDidChange(look));
  look();
  return held;
}
