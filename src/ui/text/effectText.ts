/** What a change does to open connections (section 3.2), shown in confirmations. */
import { l10n } from 'vscode';
import type { ChangeEffect } from '../../api/records/effects.ts';

/** @param branch the label of the target of a move. @returns undefined if connections are not affected */
export function effectText(effect: ChangeEffect, branch = ''): string | undefined {
  switch (effect) {
    case 'none':
      return undefined;
    case 'restart':
      return l10n.t(
        'The compute restarts and its connections are dropped. Clients can reconnect a moment later.',
      );
    case 'move':
      return l10n.t(
        'The compute is suspended and its connections are dropped. Its host stays the same and then serves the data of {0}.',
        branch,
      );
    case 'disable':
      return l10n.t(
        'The compute is suspended and its connections are dropped. It accepts no connections until you enable it again.',
      );
    default:
      return effect satisfies never;
  }
}

/** @param connections open ones; undefined if the service doesn't say */
export function suspendText(connections: number | undefined): string {
  const again = l10n.t('The compute starts again when a client connects.');
  return `${droppedText(connections)} ${again}`;
}

function droppedText(connections: number | undefined): string {
  if (connections === undefined) return l10n.t('Its connections are dropped.');
  return connections === 1
    ? l10n.t('1 open connection is dropped.')
    : l10n.t('{0} open connections are dropped.', connections);
}
