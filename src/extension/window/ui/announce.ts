/**
 * Shows a message in the status bar for a few seconds. Screen readers don't read messages of `window.setStatusBarMessage`.
 * They read this item, because it has the role `alert`, without moving the keyboard focus.
 */
import { systemClock, type Clock } from '../../../base/clock.ts';
import { toDisposable, type Disposable } from '../../../base/disposable.ts';
import { window } from './window.ts';

/** Milliseconds that a message is shown. */
const SHOWN_FOR = 6000;

/** Milliseconds until another message may replace one, because changes often end together. */
const SHOWN_ALONE = 2000;

/** The item is to the right of all others, so that they don't move. */
const PRIORITY = -1_000_000;

let current: Disposable | undefined;

/** When the next message may be shown. */
let next = 0;

/** Shows a message, or lets it wait for its turn after other ones. @param icon id of a codicon */
export function announce(message: string, icon = 'check', clock: Clock = systemClock): void {
  const now = clock.now();
  const start = Math.max(now, next);
  next = start + SHOWN_ALONE;
  const show = () => {
    current?.dispose();
    current = showItem(message, icon, clock);
  };
  if (start === now) show();
  else clock.after(start - now, show);
}

function showItem(message: string, icon: string, clock: Clock): Disposable {
  const item = window.createStatusBarItem('hostedPostgres.announcement', 'Hosted Postgres', PRIORITY);
  item.show({ icon, text: message, spoken: { label: message, role: 'alert' } });
  const timer = clock.after(SHOWN_FOR, () => item.dispose());
  return toDisposable(() => {
    timer.dispose();
    item.dispose();
  });
}
