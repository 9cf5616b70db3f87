/** A change of a compute in words, while it runs and when it has ended: for status bar, notification and list. */
import { l10n } from 'vscode';
import type { ChangeEnd, ChangeVerb, PendingChange } from '../model/pendingChange.ts';
import { plain } from './plain.ts';

export function underway(change: PendingChange): string {
  const words: Record<ChangeVerb, string> = {
    create: l10n.t('Creating {0}', change.computeId),
    edit: l10n.t('Changing {0}', change.computeId),
    restart: l10n.t('Restarting {0}', change.computeId),
    delete: l10n.t('Deleting {0}', change.computeId),
  };
  return words[change.verb];
}

/** Such as `suspend_compute: running`, with the failed tries so far. */
export const operationsOf = (change: PendingChange): string =>
  change.operations
    .map(({ action, status, failures }) => {
      const state = `${plain(action)}: ${plain(status)}`;
      return failures > 0 ? l10n.t('{0}, tried {1} times in vain', state, failures) : state;
    })
    .join(', ');

export function ended({ change, outcome, reason }: ChangeEnd): string {
  switch (outcome) {
    case 'finished':
      return finished(change);
    case 'failed':
      return l10n.t(
        '{0} failed: {1}',
        underway(change),
        plain(reason ?? l10n.t('the service gives no reason')),
      );
    case 'lost':
      return l10n.t('{0}: its project is no longer there.', underway(change));
    case 'stuck':
      return l10n.t('{0} has not ended after 15 minutes and is no longer followed.', underway(change));
    default:
      return outcome satisfies never;
  }
}

function finished(change: PendingChange): string {
  const words: Record<ChangeVerb, string> = {
    create: l10n.t('{0} is created', change.computeId),
    edit: l10n.t('{0} is changed', change.computeId),
    restart: l10n.t('{0} is restarted', change.computeId),
    delete: l10n.t('{0} is deleted', change.computeId),
  };
  return words[change.verb];
}
