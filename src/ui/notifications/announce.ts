/**
 * Shows a message in the status bar for a few seconds. Screen readers don't read out `window.setStatusBarMessage`; this
 * item has the role `alert`, so they do, and the keyboard focus doesn't move.
 */
import { StatusBarAlignment, window } from 'vscode';
import { systemClock, type Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';

/** Milliseconds. */
const SHOWN_FOR = 6000;

/** To the right of all other items, so that they don't move. */
const PRIORITY = -1_000_000;

/** All bundles share it, although each has a copy of this module: a message of one must not end that of another. */
const shared: typeof globalThis & { hostedPostgresAnnouncement?: Disposable } = globalThis;

/** @param icon id of a codicon */
export function announce(message: string, icon = 'check', clock: Clock = systemClock): void {
  shared.hostedPostgresAnnouncement?.dispose();
  const item = window.createStatusBarItem('hostedPostgres.announcement', StatusBarAlignment.Left, PRIORITY);
  item.name = 'Hosted Postgres';
  item.text = `$(${icon}) ${message}`;
  item.accessibilityInformation = { label: message, role: 'alert' };
  item.show();
  const timer = clock.after(SHOWN_FOR, () => item.dispose());
  shared.hostedPostgresAnnouncement = {
    dispose() {
      timer.dispose();
      item.dispose();
    },
  };
}
