import type { TreeView } from 'vscode';
import { systemClock, type Clock } from '../../base/clock.ts';
import { toDisposable, type Disposable } from '../../base/disposable.ts';

const MINUTE = 60_000;

/** Rows that say how long ago something was grow old by themselves: drawn anew each minute while somebody sees them. */
export function redrawWhileSeen(
  view: Pick<TreeView<unknown>, 'visible' | 'onDidChangeVisibility'>,
  redraw: () => void,
  clock: Clock = systemClock,
): Disposable {
  let next: Disposable | undefined;
  const wait = () => {
    next?.dispose();
    next = view.visible ? clock.after(MINUTE, again) : undefined;
  };
  const again = () => {
    redraw();
    wait();
  };
  const listening = view.onDidChangeVisibility(() => (view.visible ? again() : wait()));
  wait();
  return toDisposable(() => {
    listening.dispose();
    next?.dispose();
  });
}
