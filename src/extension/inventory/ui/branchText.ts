/** The name and marks of a branch as text. */
import { env, l10n, ThemeIcon, type MarkdownString } from 'vscode';
import type { Branch } from '../../../api/records/records.ts';
import type { Inventory } from '../inventory.ts';
import type { BranchIds } from '../../account/refs.ts';
import { branchesKeptForUndo, type KeptForUndo } from '../branchStatus.ts';
import type { AgentBranch } from '../agentBranches.ts';
import { recordedUsage } from '../usage.ts';
import { timeAhead, clockText, dayText, timeAndDate, timeLeft } from '../../window/ui/timeText.ts';
import { usageText } from './usageText.ts';
import { idAndName, idWithName } from '../../window/ui/idAndName.ts';
import { markdownTable, type MarkdownRow } from '../../window/ui/markdown.ts';
import { displayName, sanitize } from '../../../base/sanitize.ts';

interface BranchRow {
  readonly label: string;
  /** The texts after the label, such as `default`, `protected` and `expires in 6 d`. The id comes last. */
  readonly parts: readonly string[];
  /** The same texts, as screen readers read them. */
  readonly spoken: readonly string[];
}

/** The most characters of the name that an agent gives itself. Such names are short. */
const MAX_AGENT_NAME = 40;

interface BranchRowOptions {
  /** The branch as its agent has created it; undefined for a branch of no agent. */
  readonly agent?: Pick<AgentBranch, 'agent'> | undefined;
  readonly hasNoComputes?: boolean;
  /** The undo from which the branch keeps the former data; undefined if it keeps none. */
  readonly kept?: KeptForUndo | undefined;
  /** Whether an env file of the window points to the branch. */
  readonly isInUse?: boolean;
}

/** Returns the row of a branch. Its state is included only if the branch isn't ready. */
export function branchRow(
  id: string,
  branch: Branch | undefined,
  { agent, hasNoComputes = false, isInUse = false, kept }: BranchRowOptions = {},
): BranchRow {
  const { label, description } = idAndName(id, branch?.name);
  const state = branch?.current_state ?? 'ready';
  const expiry = branch?.expires_at ?? '';
  const left = expiry && timeLeft(expiry);
  const agentName = agent && sanitize(agent.agent, MAX_AGENT_NAME);
  const marks = [
    branch?.default === true ? l10n.t('default') : '',
    branch?.protected === true ? l10n.t('protected') : '',
    kept === undefined ? '' : keptByUndoText(kept),
    state === 'ready' ? '' : sanitize(state),
  ];
  const short = agentName === undefined ? [left && l10n.t('expires in {0}', left)] : [agentName, left];
  const long = [
    agentName === undefined ? '' : l10n.t('created by {0}', agentName),
    expiry && l10n.t('expires {0}', timeAhead(expiry)),
  ];
  const empty = hasNoComputes ? l10n.t('no computes') : '';
  const isIdFirst = label === sanitize(id);
  const own = [...marks, ...short, empty];
  const spoken = [...marks, ...long, empty, isInUse ? l10n.t('in use here') : ''];
  // An id comes last unless the user wants it first, because it takes long to read and to listen to.
  const inOrder = (parts: readonly string[]) =>
    (isIdFirst ? [description, ...parts] : [...parts, description]).filter((part) => part !== '');
  return { label, parts: inOrder(own), spoken: inOrder(spoken) };
}

/**
 * Returns the icon of a branch. Protection matters most. That a branch is the default one matters less, because it is always in
 * the first row. A branch in use has the icon of VS Code's source control for what is checked out.
 */
export function branchIcon(branch: Branch | undefined, { agent, isInUse }: BranchRowOptions = {}): ThemeIcon {
  if (branch?.protected === true) return new ThemeIcon('lock');
  if (isInUse === true) return new ThemeIcon('target');
  if (branch?.default === true) return new ThemeIcon('star-full');
  return new ThemeIcon(agent === undefined ? 'git-branch' : 'hubot');
}

/** Returns the branch's id and name as `idWithName` does. */
export const branchLabel = (id: string, branch: Branch | undefined): string => idWithName(id, branch?.name);

/** Returns text such as `kept by Undo of main at 14:03:07`. */
const keptByUndoText = ({ of, time }: KeptForUndo): string =>
  of === undefined
    ? l10n.t('kept by Undo at {0}', clockText(time))
    : l10n.t('kept by Undo of {0} at {1}', sanitize(of.name || of.id), clockText(time));

/** Says what is lost if a branch is deleted. */
export function deletionText(
  inventory: Pick<Inventory, 'branches' | 'computesOf' | 'snapshots'>,
  { projectId, branchId }: BranchIds,
): string {
  const computes = inventory.computesOf(projectId)?.branches().get(branchId)?.length ?? 0;
  const lost =
    computes === 0
      ? l10n.t('Its data is deleted.')
      : l10n.t('Its data and computes ({0}) are deleted, and connections are dropped.', computes);
  const snapshots = inventory.snapshots.ofBranch({ projectId, branchId }).length;
  const kept = branchesKeptForUndo(inventory, { projectId, branchId }).map(displayName).join(', ');
  const rest = [
    snapshots === 0
      ? ''
      : l10n.t('Its snapshots ({0}) stay: Undo… on another branch of the project lists them.', snapshots),
    kept && l10n.t("Earlier data that Undo has kept isn't deleted: {0}.", kept),
  ];
  return [lost, ...rest].filter((part) => part !== '').join(' ');
}

/** Says what an undo does. @param name the name of the branch that keeps the current data @param until see `keptUntil` */
export const undoConsequencesText = (name: string, until: string): string =>
  `${keptDataText(name, until)} ${l10n.t('Its active computes are restarted, and their connections are dropped.')}`;

/** @param until see `keptUntil`; undefined if the branch with the data doesn't expire */
export const keptDataText = (name: string, until?: string): string =>
  until === undefined
    ? l10n.t('Its current data is kept as the branch {0}.', name)
    : l10n.t('Its current data is kept as the branch {0}, at least until {1}.', name, dayText(until));

/** Returns the tooltip of a branch. */
export function branchTooltip(
  branch: Branch,
  parent: Branch | undefined,
  { agent, isInUse = false, kept }: BranchRowOptions,
): MarkdownString {
  const parentId = branch.parent_id ?? undefined;
  const rows: MarkdownRow[] = [
    [l10n.t('Id'), branch.id],
    [l10n.t('State'), branch.current_state],
    [l10n.t('Parent'), parentId && branchLabel(parentId, parent)],
    [l10n.t('Default'), branch.default === true ? l10n.t('yes') : undefined],
    [l10n.t('Protected'), branch.protected === true ? l10n.t('yes') : undefined],
    [l10n.t('In use here'), isInUse ? l10n.t('yes, an env file points to it') : undefined],
    [l10n.t('Origin'), kept && keptByUndoText(kept)],
    [l10n.t('Used this period'), usageText(recordedUsage(branch))],
    [l10n.t('Expires'), branch.expires_at && timeAndDate(branch.expires_at)],
    [l10n.t('Created by'), agent?.agent],
    [l10n.t('Created'), branch.created_at && timeAndDate(branch.created_at)],
  ];
  return markdownTable(branch.name || branch.id, rows);
}

/** Returns text such as `31.2 MB` or `1.5 GB`. */
export function bytesText(bytes: number): string {
  const [unit, size] = bytes < 1e9 ? ['megabyte', 1e6] : ['gigabyte', 1e9];
  const format = { style: 'unit', unit, maximumFractionDigits: 1 } as const;
  return new Intl.NumberFormat(env.language, format).format(bytes / size);
}
