/** Asks for a moment of a branch. */
import { l10n, ThemeIcon } from 'vscode';
import type { BranchRef } from '../../account/refs.ts';
import { isSameBranch } from '../../account/refs.ts';
import type { SchemaChange } from '../../../api/records/records.ts';
import type { CommandContext } from '../../commandSupport/context.ts';
import type { PickedBranch } from '../../commandSupport/branchPicker.ts';
import { branchOfRow } from '../../inventory/databaseNodes.ts';
import type { BranchNode } from '../../inventory/nodes.ts';
import { asBranchNode, asBranchOfSnapshots } from '../../inventory/nodes.ts';
import { isInMap, gitBranchNameInMap } from '../../gitBranch/branchMap.ts';
import type { WorkFolderState } from '../../gitBranch/workFolder.ts';
import type { Ask, StepsLeft } from '../../window/ui/input/multiStepInput.ts';
import { enterText, pickOne, listSeparator, type Choice } from '../../window/ui/input/quickInput.ts';
import { branchHistory } from '../knownHistory.ts';
import { hasNoChanges, type FoundChanges, type LoadMomentChanges } from '../momentChanges.ts';
import { changesText } from '../ui/changesText.ts';
import { readHeadLog, type GitEvent } from '../headLog.ts';
import {
  arrangeMoments,
  earliestMoment,
  gitEventsOfBranch,
  listMoments,
  restoreSourceAt,
  type BranchHistory,
  type Moment,
  type SnapshotMoment,
} from '../moments.ts';
import { type RestoreSource } from '../../account/refs.ts';
import { parseMoment, type MomentLimits } from '../parseMoment.ts';
import { momentItem, momentProblem, momentWithTime, typedMomentItem } from '../ui/momentText.ts';
import { pointInTimeText } from '../../window/ui/timeText.ts';

/** Returns the branch of the env file, so that the palette needs no question about it unless the row of another branch is selected. */
function branchOfFile({ session, workFolders, computesView }: CommandContext): BranchNode | undefined {
  const current = workFolders.shown?.work.state.current;
  if (current === undefined || current.isDeleted) return undefined;
  if (current.account !== session.connection?.accountId) return undefined;
  const { projectId, branchId } = current;
  const selected = branchOfRow(computesView.view.selection[0]);
  if (selected !== undefined && selected.branchId !== branchId) return undefined;
  return { kind: 'branch', projectId, branchId };
}

/** Returns the branch of the row, also of the row of its snapshots, or else of the env file. */
export const branchArgument = (context: CommandContext, argument: unknown): unknown =>
  asBranchNode(argument) ?? asBranchOfSnapshots(argument) ?? argument ?? branchOfFile(context);

export const branchRefOf = ({ session }: CommandContext, { projectId, branchId }: BranchNode): BranchRef => ({
  account: session.requireConnection().accountId,
  projectId,
  branchId,
});

/** Whether only this user works on the branch, so that a change needs no confirmation if nothing is lost. */
export function isUsedByOneUser(
  { session, agentBranches, workFolders }: CommandContext,
  ref: BranchRef,
): boolean {
  if (session.connection?.isLocal === true || agentBranches.wasMadeByAgent(ref)) return true;
  return workFolders.states.some(({ map }) => map.created.some((created) => isSameBranch(ref, created)));
}

/** @param withSnapshots whether they are offered, too @throws {ApiError} */
export async function loadHistory(
  context: CommandContext,
  picked: PickedBranch,
  { withSnapshots = false }: { readonly withSnapshots?: boolean } = {},
): Promise<BranchHistory> {
  const ref = branchRefOf(context, picked);
  const [gitEvents, snapshots] = await Promise.all([
    readGitEvents(context, ref),
    withSnapshots ? listProjectSnapshots(context, picked.projectId) : [],
  ]);
  const isLocal = context.session.requireConnection().isLocal;
  return await branchHistory(context, ref, { list: picked.list, isLocal, gitEvents, snapshots });
}

/** Lists the snapshots of a project; none if they can't be loaded, because they are only some of the moments. */
async function listProjectSnapshots({ inventory, log }: CommandContext, projectId: string) {
  try {
    return await inventory.snapshots.refresh(projectId);
  } catch (error) {
    log.error('Listing snapshots', error);
    return [];
  }
}

/** Returns what git did in folders while their env file pointed to the branch. */
async function readGitEvents({ workFolders }: CommandContext, ref: BranchRef): Promise<readonly GitEvent[]> {
  const isAbout = ({ map, current }: WorkFolderState) => isSameBranch(ref, current) || isInMap(map, ref);
  const found = workFolders.states.filter(isAbout).map(async ({ repository, map, git, current }) => {
    if (repository === undefined) return [];
    const isBranchOf = (gitBranch: string | undefined) => {
      const mapped =
        gitBranch === undefined ? undefined : map.branches.get(gitBranchNameInMap(map, gitBranch));
      return isSameBranch(ref, mapped ?? current);
    };
    return gitEventsOfBranch(await readHeadLog(repository, git.branch), isBranchOf);
  });
  // Folders of one repository have the same events.
  const events = (await Promise.all(found)).flat().map((event) => [JSON.stringify(event), event] as const);
  return [...new Map(events).values()];
}

/** A moment that the user has chosen. */
export interface ChosenMoment {
  readonly source: RestoreSource;
  /** What the user reads, such as `Before commit 3f2a1c “add roles” (10:31:02 AM)`. */
  readonly text: string;
  /** Whether the branch may never have had these data. */
  readonly isOfOther?: boolean;
  /** Set if the user pressed a button of a snapshot: what to do with that snapshot. */
  readonly change?: { readonly kind: 'rename' | 'delete'; readonly snapshot: SnapshotMoment };
}

interface MomentQuestion extends StepsLeft {
  readonly placeholder: string;
  /** Reads when the schema was changed. */
  readonly schemaChanges?: (() => Promise<readonly SchemaChange[]>) | undefined;
  /** What has changed since moments. */
  readonly changes?: LoadMomentChanges | undefined;
  /** Whether the service offers nothing but to undo the last undo, and snapshots. */
  readonly onlyUndo?: boolean;
  /** Whether snapshots can be renamed and deleted. */
  readonly canChange?: boolean;
}

/** Whether the moment can be restored without the branch's history. */
export const needsNoHistory = ({ kind }: Moment): boolean => kind === 'undo' || kind === 'snapshot';

const snapshotButtons = () =>
  [
    { kind: 'rename', iconPath: new ThemeIcon('edit'), tooltip: l10n.t('Rename Snapshot…') },
    { kind: 'delete', iconPath: new ThemeIcon('trash'), tooltip: l10n.t('Delete Snapshot…') },
  ] as const;

export async function askForMoment(
  ask: Ask,
  history: BranchHistory,
  { placeholder, schemaChanges, changes, onlyUndo = false, canChange = false, following = 0 }: MomentQuestion,
): Promise<ChosenMoment> {
  const { now } = history;
  const limits = { now, earliest: earliestMoment(history) };
  const chosenAt = (text: string): ChosenMoment | undefined => {
    const point = parseMoment(text, limits);
    if (point === undefined || 'problem' in point) return undefined;
    return { source: restoreSourceAt(history, point), text: pointInTimeText(point, now) };
  };
  const momentsWith = (found?: readonly SchemaChange[]) =>
    listMoments({ ...history, ...(found && { schemaChanges: found }) }).filter(
      (moment) => !onlyUndo || needsNoHistory(moment),
    );
  const enter: Choice<ChosenMoment | 'enter'> = {
    label: l10n.t('Enter a time…'),
    description: l10n.t('such as 20 min ago or 14:32'),
    value: 'enter',
  };
  const itemOf = (moment: Moment, found?: FoundChanges): Choice<ChosenMoment | 'enter'> => {
    const isOfOther = moment.kind === 'snapshot' && moment.isOfOther === true;
    const value = { source: moment.source, text: momentWithTime(moment, now), isOfOther };
    const item = momentItem<ChosenMoment | 'enter'>(moment, now, value, changesText(found?.(moment)));
    if (!canChange || moment.kind !== 'snapshot') return item;
    const actions = snapshotButtons().map(({ kind, ...button }) => ({
      button,
      value: { ...value, change: { kind, snapshot: moment } },
    }));
    return { ...item, actions };
  };
  const itemsWith = (moments: readonly Moment[], found?: FoundChanges) => {
    const { useful, unchanged, first } = arrangeMoments(moments, (moment) => hasNoChanges(found?.(moment)));
    const itemsOf = (group: readonly Moment[]) =>
      group.map((moment) => ({ ...itemOf(moment, found), isCurrent: moment === first }));
    const same =
      unchanged.length > 0 ? [listSeparator(l10n.t('no changes since then')), ...itemsOf(unchanged)] : [];
    return [...itemsOf(useful), ...same, ...(onlyUndo ? [] : [enter])];
  };
  // Nothing is shown before the changes are known: the useful moment must be the active one from the beginning.
  const load = async () => {
    const moments = momentsWith(await schemaChanges?.());
    return itemsWith(moments, await changes?.(moments));
  };
  const typed = (text: string) => {
    const item = onlyUndo ? undefined : typedMomentItem(text, limits);
    return item && { ...item, actions: [], value: item.value && chosenAt(text) };
  };
  const question = {
    placeholder,
    items: schemaChanges === undefined ? itemsWith(momentsWith()) : load,
    typed,
    idOf: JSON.stringify,
  };
  const chosen = await ask(pickOne<ChosenMoment | 'enter'>(question), { following });
  if (chosen !== 'enter') return chosen;
  const text = await ask(timeQuestion(limits), { following });
  return chosenAt(text) ?? { source: { branchId: history.ref.branchId }, text };
}

const timeQuestion = (limits: MomentLimits) =>
  enterText({
    prompt: l10n.t('The time to go back to'),
    placeholder: l10n.t('20 min ago, 14:32, yesterday 9:05, 2026-01-31 14:32:10'),
    problem: (entered) => momentProblem(entered, limits),
  });
