/** What a change does to open connections (section 3.2), shown in confirmations. */
import { l10n } from 'vscode';
import type { EditEffect } from '../../api/records/effects.ts';

interface EffectParts {
  /** The open ones; undefined if the service doesn't say. */
  readonly connections?: number | undefined;
  /** The label of the target of a move. */
  readonly toBranch?: string | undefined;
}

/** @returns undefined if connections are not affected */
export function effectText(
  effect: EditEffect,
  { connections, toBranch = '' }: EffectParts = {},
): string | undefined {
  const dropped = droppedText(connections);
  switch (effect) {
    case 'none':
      return undefined;
    case 'restart':
      return [l10n.t('The compute restarts.'), dropped, l10n.t('Clients can reconnect a moment later.')].join(
        ' ',
      );
    case 'move': {
      const moved = l10n.t('Its host stays the same and then serves the data of {0}.', toBranch);
      return [l10n.t('The compute is suspended.'), dropped, moved].join(' ');
    }
    case 'disable': {
      const disabled = l10n.t('It accepts no connections until you enable it again.');
      return [l10n.t('The compute is suspended.'), dropped, disabled].join(' ');
    }
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
  if (connections === 0) return l10n.t('No connections are interrupted.');
  return connections === 1
    ? l10n.t('1 open connection is dropped.')
    : l10n.t('{0} open connections are dropped.', connections);
}
