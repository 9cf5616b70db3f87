import type { TreeView } from 'vscode';
import { systemClock, type Clock } from '../../base/clock.ts';
import { toDisposable, type Disposable } from '../../base/disposable.ts';

const MINUTE = 60_000;

/** Redraws rows with relative times (`3 minutes ago`) every minute while the view is visible. */
export function redrawRelativeTimes(
  view: Pick<TreeView<unknown>, 'visible' | 'onDidChangeVisibility'>,
  redraw: () => void,
  clock: Clock = systemClock,
): Disposable {
  let next: Disposable | undefined;
  const schedule = () => {
    next?.dispose();
    next = view.visible ? clock.after(MINUTE, tick) : undefined;
  };
  const tick = () => {
    redraw();
    schedule();
  };
  const listener = view.onDidChangeVisibility(() => (view.visible ? tick() : schedule()));
  schedule();
  return toDisposable(() => {
    listener.dispose();
    next?.dispose();
  });
}
