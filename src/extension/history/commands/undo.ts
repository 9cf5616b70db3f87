/** Undo…: gives a branch the data of an earlier moment. The present data is kept under another name, so nothing can be lost. */
import { l10n, ProgressLocation } from 'vscode';
import { hasNoConnections, type OpenConnections } from '../../../api/records/effects.ts';
import { isBranchId } from '../../../api/records/ids.ts';
import { pointInTime } from '../../../api/records/pointInTime.ts';
import { endedSlotsMessage } from '../../../api/rules/endedSlots.ts';
import { fieldsOf } from '../../../base/fieldsOf.ts';
import { displayName } from '../../../base/sanitize.ts';
import { changeTexts, droppedConnectionsText } from '../../operations/ui/changeText.ts';
import { dayText } from '../../window/ui/timeText.ts';
import { pickBranch, type PickedBranch } from '../../commandSupport/branchPicker.ts';
import { makeChange } from '../../commandSupport/change.ts';
import type { Command, CommandContext, CommandRun } from '../../commandSupport/context.ts';
import { loadedComputes } from '../../inventory/branchStatus.ts';
import { computeNodeOf, type BranchNode } from '../../inventory/nodes.ts';
import { keptDataText } from '../../inventory/ui/branchText.ts';
import type { BranchRef } from '../../account/refs.ts';
import { executeCommand } from '../../window/ui/executeCommand.ts';
import { askInSteps } from '../../window/ui/input/multiStepInput.ts';
import { window } from '../../window/ui/window.ts';
import { findEndingSlots } from '../../branches/endingSlots.ts';
import { timeProblem } from '../knownHistory.ts';
import { momentChangesLoader, schemaChangesLoader, startIdlePrimary } from '../momentChanges.ts';
import { listMoments, type Moment } from '../moments.ts';
import { restoreSnapshotInPlace } from '../snapshotActions.ts';
import { findOutdatedEditors, refreshTabs } from '../../database/commands/outdatedEditors.ts';
import { keptUntil, preservedName, undoBranch } from '../undoBranch.ts';
import {
  askForMoment,
  branchArgument,
  loadHistory,
  isUsedByOneUser,
  needsNoHistory,
  branchRefOf,
  type ChosenMoment,
} from './askForMoment.ts';
import { changeSnapshot, replaceRememberedId } from './changeSnapshot.ts';

export const undo: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't undo");
  const picked = await pickBranch(context, l10n.t('Undo'), branchArgument(context, argument));
  if (picked === undefined) return;
  const { fullName, projectId, branchId, list } = picked;
  run.failureMessage = l10n.t("Couldn't undo {0}", fullName);
  const preservedId = fieldsOf(argument)['preserved'];
  const earlier = readGivenMoment(fieldsOf(argument)['source']);
  const chosen = isBranchId(preservedId)
    ? { source: { branchId: preservedId }, text: l10n.t('Undo the undo') }
    : (earlier ?? (await chooseMoment(context, picked, run)));
  if (chosen === undefined) return;
  if (chosen.change !== undefined) {
    await changeSnapshot(context, run, picked, chosen.change);
    return await undo(context, picked, run);
  }
  const { snapshotId } = chosen.source;
  if (snapshotId !== undefined) return await restoreSnapshot(context, run, picked, { ...chosen, snapshotId });
  const ref = branchRefOf(context, picked);
  const preserved = preservedName(list);
  const result = await makeChange(context, run, {
    ...picked,
    question: undoTitle(fullName, chosen.text),
    ...(await undoQuestion(context, ref, preserved, { until: keptUntil(context.inventory, ref) })),
    button: l10n.t('Undo'),
    progress: l10n.t('Undoing {0}', fullName),
    send: (options) => {
      const location = ProgressLocation.Notification;
      const request = { source: chosen.source, name: preserved };
      return Promise.resolve(
        window.withProgress({ location, title: l10n.t('Undoing {0}', fullName) }, () =>
          undoBranch(context, ref, request, { ...options, hasNotification: true }),
        ),
      );
    },
  });
  if (result === undefined) return;
  const kept = context.inventory.branches.forProject(projectId)?.findByName(preserved);
  const expiry = kept?.expires_at ?? undefined;
  void showUndone(
    context,
    { kind: 'branch', projectId, branchId, preserved: kept?.id },
    {
      verb: 'undo',
      message: doneText('undo', fullName, chosen.text, preserved, expiry),
      expires: expiry !== undefined,
    },
  );
};

const undoTitle = (name: string, moment: string): string =>
  `${l10n.t('Undo {0}?', name)} ${l10n.t('You selected: {0}.', moment)}`;

interface UndoQuestion {
  readonly isAsked?: boolean;
  /** See `keptUntil`; undefined if the branch with the previous data doesn't expire. */
  readonly until?: string;
}

/**
 * Returns what is asked first: nothing if only this user works on the branch, no connections are dropped, and no replication slots
 * end.
 */
async function undoQuestion(
  context: CommandContext,
  ref: BranchRef,
  preserved: string,
  { isAsked = false, until }: UndoQuestion = {},
) {
  const slots = endedSlotsMessage(await findEndingSlots(context.session.requireConnection(), ref), l10n);
  return {
    drops: loadedComputes(context.inventory, ref).map(computeNodeOf),
    detail: (connections: OpenConnections) => {
      if (!isAsked && hasNoConnections(connections) && slots === undefined && isUsedByOneUser(context, ref))
        return undefined;
      const dropped = droppedConnectionsText(hasNoConnections(connections) ? 0 : connections);
      const kept = keptDataText(preserved, until);
      return [kept, dropped, ...(slots === undefined ? [] : [slots])].join(' ');
    },
  };
}

/** @param preserved the name of the branch that keeps the data from before, if the service does */
function doneText(
  verb: 'undo' | 'restore',
  name: string,
  moment: string,
  preserved?: string,
  expiry?: string,
): string {
  const selected = verb === 'undo' ? `. ${l10n.t('You selected: {0}.', moment)}` : `: ${moment}.`;
  const done = `${changeTexts(verb, name).done}${selected}`;
  if (preserved === undefined) return done;
  const kept =
    expiry === undefined
      ? l10n.t('Its previous data is kept as {0}.', preserved)
      : l10n.t('Its previous data is kept as {0} until {1}.', preserved, dayText(expiry));
  return `${done} ${kept}`;
}

/** Returns the moment of the offer after a checkout. */
function readGivenMoment(source: unknown): ChosenMoment | undefined {
  const { branchId, at } = fieldsOf(source);
  const { timestamp, lsn } = fieldsOf(at);
  if (!isBranchId(branchId) || typeof timestamp !== 'string') return undefined;
  const point = pointInTime(timestamp, typeof lsn === 'string' ? lsn : undefined);
  return { source: { branchId, at: point }, text: l10n.t('Before the later migrations') };
}

interface SnapshotToRestore extends ChosenMoment {
  readonly snapshotId: string;
  /**
   * A question that is always asked. Without one, an undo asks its own, if other users may notice it or the data are those of
   * another branch.
   */
  readonly ask?: { readonly question: string; readonly button: string };
}

/** Gives a branch the data of a snapshot. Its data from before are kept, too, but the branch gets another id. */
export async function restoreSnapshot(
  context: CommandContext,
  run: CommandRun,
  picked: PickedBranch,
  { snapshotId, text, isOfOther, ask }: SnapshotToRestore,
): Promise<void> {
  const { fullName, projectId } = picked;
  const ref = branchRefOf(context, picked);
  const verb = ask === undefined ? 'undo' : 'restore';
  const { progress } = changeTexts(verb, fullName);
  const result = await makeChange(context, run, {
    ...picked,
    question: undoTitle(fullName, text),
    button: l10n.t('Undo'),
    ...ask,
    ...(await undoQuestion(context, ref, `${picked.branch.name} (old)`, {
      isAsked: isOfOther === true || ask !== undefined,
    })),
    progress,
    send: (options) => {
      const location = ProgressLocation.Notification;
      return Promise.resolve(
        window.withProgress({ location, title: progress }, () =>
          restoreSnapshotInPlace(context, ref, { snapshotId, verb }, { ...options, hasNotification: true }),
        ),
      );
    },
  });
  if (result === undefined) return;
  const { restored, preserved } = result;
  if (restored.branchId !== ref.branchId) await replaceRememberedId(context, ref, restored);
  const message = doneText(verb, fullName, text, preserved && displayName(preserved));
  void showUndone(
    context,
    { kind: 'branch', projectId, branchId: restored.branchId, preserved: preserved?.id },
    { verb, message },
  );
}

/** The argument that undoes an undo. */
interface Redo extends BranchNode {
  /** The id of the branch with the data from before; undefined if it isn't known. */
  readonly preserved: string | undefined;
}

interface UndoneMessage {
  readonly verb: 'undo' | 'restore';
  readonly message: string;
  /** Whether the data that is kept expires. */
  readonly expires?: boolean;
}

/** Callers don't await the message, because the command has ended. */
async function showUndone(
  context: CommandContext,
  { preserved, ...node }: Redo,
  { verb, message, expires = false }: UndoneMessage,
): Promise<void> {
  const undoAgain = verb === 'undo' ? l10n.t('Undo the Undo') : l10n.t('Undo');
  const [keep, compareAgain] = [l10n.t('Keep Previous Data'), l10n.t('Compare Again')];
  const outdated = findOutdatedEditors(context, branchRefOf(context, node));
  const buttons = [
    ...(preserved === undefined ? [] : [undoAgain, ...(expires ? [keep] : [])]),
    ...(outdated.length === 0 ? [] : [compareAgain]),
  ];
  const note =
    outdated.length === 0 ? '' : ` ${l10n.t('Editors that are open still show the earlier data.')}`;
  const button = await window.showInformationMessage(`${message}${note}`, ...buttons);
  if (button === compareAgain) await refreshTabs(outdated);
  if (button === undoAgain) await executeCommand('hostedPostgres.undo', { ...node, preserved });
  if (button === keep)
    await executeCommand('hostedPostgres.branch.changeExpiry', { ...node, branchId: preserved, lifetime: 0 });
}

/** Returns undefined if the user canceled, or nothing is offered, which a message has explained. */
async function chooseMoment(
  context: CommandContext,
  picked: PickedBranch,
  run: CommandRun,
): Promise<ChosenMoment | undefined> {
  const history = await loadHistory(context, picked, { withSnapshots: true });
  const isLocal = context.session.connection?.isLocal === true;
  const reason = timeProblem(picked.branch, history, isLocal);
  const problem = reason && timeProblemText(reason, picked.fullName);
  if (problem !== undefined && !listMoments(history).some(needsNoHistory))
    return void (await window.showWarningMessage(problem));
  const placeholder =
    problem ?? l10n.t('Select the moment that {0} goes back to, or type a time', picked.fullName);
  const known = momentChangesLoader(context, history.ref);
  const started =
    known && problem === undefined
      ? startIdlePrimary(context, history.ref, run.initialConnection)
      : undefined;
  const changes = known && (async (moments: readonly Moment[]) => (await started, await known(moments)));
  const readSchema = problem === undefined ? schemaChangesLoader(context, history.ref) : undefined;
  const question = {
    placeholder,
    changes,
    schemaChanges: readSchema && (async () => (await started, await readSchema())),
    onlyUndo: problem !== undefined,
    canChange: true,
  };
  const chosen = await askInSteps(l10n.t('Undo {0}', picked.fullName), (ask) =>
    askForMoment(ask, history, question),
  );
  // The service takes no change of the branch while its compute starts.
  if (chosen !== undefined) await started;
  return chosen;
}

/** Says why a branch can't go back to a time: see `timeProblem`. */
export const timeProblemText = (problem: 'noHistory' | 'notRoot', name: string): string =>
  problem === 'noHistory'
    ? l10n.t("{0} can't go back in time, because its project keeps no history.", name)
    : l10n.t('{0} has a parent, and this service restores only root branches to an earlier time.', name);
