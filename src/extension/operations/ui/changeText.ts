/** A change as text: its effect on connections, while it is pending, and its result. */
import { l10n } from 'vscode';
import type { ChangeEnd, PendingChange } from '../pendingChange.ts';
import { namesText } from '../../inventory/ui/resourceText.ts';
import { nameOrId, sanitize } from '../../../base/sanitize.ts';
import type { ComputeChangeEffect } from '../../../api/records/effects.ts';

const changedResourceName = ({ names, projectId, branchId, computeId, name }: PendingChange): string =>
  names === undefined ? nameOrId(name, computeId ?? branchId ?? projectId) : namesText(names);

export const pendingText = (change: PendingChange): string =>
  changeTexts(change.verb, changedResourceName(change)).progress;

/** Returns the texts for a change while it is pending and after it has finished. @param edited see `PendingChange` */
export function changeTexts(
  verb: PendingChange['verb'],
  name: string,
  edited?: string,
): { readonly progress: string; readonly done: string } {
  const changed =
    edited === undefined ? l10n.t('Changed {0}', name) : l10n.t('Changed {0}: {1}', name, edited);
  return {
    create: { progress: l10n.t('Creating {0}', name), done: l10n.t('Created {0}', name) },
    edit: { progress: l10n.t('Changing {0}', name), done: changed },
    start: { progress: l10n.t('Starting {0}', name), done: l10n.t('Started {0}', name) },
    suspend: { progress: l10n.t('Suspending {0}', name), done: l10n.t('Suspended {0}', name) },
    restart: { progress: l10n.t('Restarting {0}', name), done: l10n.t('Restarted {0}', name) },
    undo: { progress: l10n.t('Undoing {0}', name), done: l10n.t('Undid {0}', name) },
    restore: { progress: l10n.t('Restoring {0}', name), done: l10n.t('Restored {0}', name) },
    reset: { progress: l10n.t('Resetting {0}', name), done: l10n.t('Reset {0}', name) },
    delete: { progress: l10n.t('Deleting {0}', name), done: l10n.t('Deleted {0}', name) },
  }[verb];
}

/** Returns text such as `suspend_compute: running (2 failed attempts)`. */
export const operationsText = (change: PendingChange): string =>
  change.operations
    .map(({ action, status, failures }) => {
      const state = `${sanitize(action)}: ${sanitize(status)}`;
      return failures > 0 ? l10n.t('{0} ({1} failed attempts)', state, failures) : state;
    })
    .join(', ');

export function changeEndText({ change, outcome, reason }: ChangeEnd): string {
  switch (outcome) {
    case 'finished':
      return changeTexts(change.verb, changedResourceName(change), change.edited).done;
    case 'failed':
      return failureText(change, reason);
    case 'lost':
      // A service removes a project that it couldn't create.
      if (isCreationOfProject(change)) return failureText(change);
      return l10n.t('{0}: the project no longer exists.', pendingText(change));
    case 'stuck':
      return l10n.t(
        '{0} is taking longer than 15 minutes and is no longer tracked. Check its current state in the list.',
        pendingText(change),
      );
    default:
      return outcome satisfies never;
  }
}

const isCreationOfProject = ({ verb, branchId, computeId }: PendingChange): boolean =>
  verb === 'create' && branchId === undefined && computeId === undefined;

const failureText = (change: PendingChange, reason?: string): string =>
  l10n.t('{0} failed: {1}', pendingText(change), sanitize(reason ?? l10n.t('the service gave no reason')));

interface EffectDetails {
  /** The number of open connections; undefined if the service doesn't report them. */
  readonly connections?: number | undefined;
  /** The label of the branch to which the compute moves. */
  readonly toBranch?: string | undefined;
}

/** Returns what a change does to connections; undefined if they aren't affected. */
export function effectText(
  effect: ComputeChangeEffect,
  { connections, toBranch = '' }: EffectDetails = {},
): string | undefined {
  if (effect === 'none') return undefined;
  const suspended = l10n.t('This suspends the compute.');
  const [first, last] = {
    restart: [l10n.t('The compute restarts.'), l10n.t('Clients can reconnect a moment later.')],
    move: [suspended, l10n.t('Its host stays the same and then serves the data of {0}.', toBranch)],
    disable: [suspended, l10n.t('It accepts no connections until you enable it again.')],
  }[effect];
  return `${first} ${droppedConnectionsText(connections)} ${last}`;
}

/** @param connections open ones; undefined if the service doesn't report them */
export function suspendText(connections: number | undefined): string {
  const again = l10n.t('The compute starts again when a client connects.');
  return `${droppedConnectionsText(connections)} ${again}`;
}

/** @param connections see `suspendText` */
export function droppedConnectionsText(connections: number | undefined): string {
  if (connections === undefined) return l10n.t('Its connections are dropped.');
  if (connections === 0) return l10n.t('No connections are dropped.');
  return connections === 1
    ? l10n.t('1 open connection is dropped.')
    : l10n.t('{0} open connections are dropped.', connections);
}
