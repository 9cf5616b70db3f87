/** A change of a compute in words, while it runs and when it has ended: for status bar, notification and list. */
import { l10n } from 'vscode';
import { labelOf } from '../model/computeStatus.ts';
import type { ChangeEnd, ChangeVerb, PendingChange } from '../model/pendingChange.ts';
import { plain } from './plain.ts';

/** As the row of the compute is labelled, which may be gone by now. */
const nameOf = ({ computeId, name }: PendingChange): string => plain(labelOf({ id: computeId, name }));

export function underway(change: PendingChange): string {
  const name = nameOf(change);
  const words: Record<ChangeVerb, string> = {
    create: l10n.t('Creating {0}', name),
    edit: l10n.t('Changing {0}', name),
    restart: l10n.t('Restarting {0}', name),
    delete: l10n.t('Deleting {0}', name),
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
  const name = nameOf(change);
  const words: Record<ChangeVerb, string> = {
    create: l10n.t('{0} is created', name),
    edit: l10n.t('{0} is changed', name),
    restart: l10n.t('{0} is restarted', name),
    delete: l10n.t('{0} is deleted', name),
  };
  return words[change.verb];
}
