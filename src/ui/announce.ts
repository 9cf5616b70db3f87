/**
 * Says in the status bar for a moment that something has happened. A status bar message of VS Code's own is silent to
 * screen readers; this one is an alert to them, and leaves the keyboard where it is.
 */
import { StatusBarAlignment, window } from 'vscode';
import { systemClock, type Clock } from '../base/clock.ts';
import type { Disposable } from '../base/disposable.ts';

/** Milliseconds: time to read a sentence. */
const SHOWN_FOR = 6000;

/** Right of all else, so that nothing moves when it comes and goes. */
const PRIORITY = -1_000_000;

let last: Disposable | undefined;

/** @param icon one of VS Code's own, in front of the words */
export function announce(words: string, icon = 'check', clock: Clock = systemClock): void {
  last?.dispose();
  const item = window.createStatusBarItem('hostedPostgres.announcement', StatusBarAlignment.Left, PRIORITY);
  item.name = 'Hosted Postgres';
  item.text = `$(${icon}) ${words}`;
  item.accessibilityInformation = { label: words, role: 'alert' };
  item.show();
  const ending = clock.after(SHOWN_FOR, () => item.dispose());
  last = {
    dispose() {
      ending.dispose();
      item.dispose();
    },
  };
}
