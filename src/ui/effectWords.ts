/** What a change does to those who are connected (section 3.2), said before anybody is asked. */
import { l10n } from 'vscode';
import type { ChangeEffect } from '../api/effects.ts';
import { plain } from './plain.ts';

/** @param branchId where a move leads. @returns undefined for a change that connections do not notice */
export function effectText(effect: ChangeEffect, branchId = ''): string | undefined {
  switch (effect) {
    case 'none':
      return undefined;
    case 'restart':
      return l10n.t(
        'The compute restarts, and its connections are dropped; clients can connect again a moment later.',
      );
    case 'move':
      return l10n.t(
        'The compute is suspended, and its connections are dropped. Its host stays the same and from then on reaches the data of {0}.',
        plain(branchId),
      );
    case 'disable':
      return l10n.t(
        'The compute is suspended, and its connections are dropped. It takes no new ones until it is enabled again.',
      );
    default:
      return effect satisfies never;
  }
}
