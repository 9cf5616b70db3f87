/** The tree item and tooltip of each node. They depend only on the inventory and the node. */
import {
  l10n,
  ThemeColor,
  ThemeIcon,
  TreeItem,
  TreeItemCollapsibleState,
  FileDecoration,
  Uri,
  type MarkdownString,
  type FileDecorationProvider,
} from 'vscode';
import type { Branch } from '../../../api/records/records.ts';
import { isLocalCompute } from '../../../api/addresses/host.ts';
import { keptForUndo, primaryOf } from '../branchStatus.ts';
import { branchTitle, nameUnlessId } from '../names.ts';
import { isPrimary, computeStatus } from '../computeStatus.ts';
import type { Inventory } from '../inventory.ts';
import type { BranchIds } from '../../account/refs.ts';
import type { BranchNode, ComputeNode, ProjectNode } from '../nodes.ts';
import { recordedUsage, usageStep } from '../usage.ts';
import { branchIcon, branchRow, branchTooltip, bytesText } from './branchText.ts';
import { computeIcon, computeTooltip, computeRow, lastFailure, statusText, typeText } from './computeText.ts';
import { sizeText } from './sizeText.ts';
import { timeAndDate } from '../../window/ui/timeText.ts';
import { usageText } from './usageText.ts';
import { explainError } from '../../window/ui/errorMessage.ts';
import { markdownTable } from '../../window/ui/markdown.ts';
import { nameOrId, sanitize } from '../../../base/sanitize.ts';
import type { AgentBranch } from '../agentBranches.ts';
import { databaseTreeItem } from './databaseItems.ts';
import { snapshotItem, snapshotsItem, snapshotTooltip } from './snapshotItems.ts';
import { childNodes, nodeId, type HintNode, type TreeNode } from './treeNodes.ts';
import { MARKS, type Mark } from '../../window/marks.ts';
import { markText } from '../../account/ui/accountLabel.ts';
import type { OwnCommand } from '../../window/ui/executeCommand.ts';

/** What the inventory doesn't know of a row. */
interface RowFacts {
  /** The branch as its agent has created it; undefined for a branch of no agent. */
  readonly agent?: AgentBranch | undefined;
  /** Whether an env file of the window points to the branch. */
  readonly isInUse?: boolean;
  /** Whether the row is the project that is expanded without a click. */
  readonly isFirst?: boolean;
  /** Whether the project was expanded when it was last shown, such as before the window was reloaded. */
  readonly isExpanded?: boolean;
}

export function treeItem(inventory: Inventory, node: TreeNode, facts: RowFacts = {}): TreeItem {
  const item = createTreeItem(inventory, node, facts);
  item.id ??= nodeId(node);
  return item;
}

function createTreeItem(inventory: Inventory, node: TreeNode, facts: RowFacts): TreeItem {
  switch (node.kind) {
    case 'project':
      return projectItem(inventory, node, facts);
    case 'branch':
      return branchItem(inventory, node, facts);
    case 'compute':
      return computeItem(inventory, node);
    case 'databases':
    case 'database':
    case 'table':
    case 'column':
    case 'function':
    case 'databaseHint':
      return databaseTreeItem(node, branchName(inventory, node));
    case 'snapshots':
      return snapshotsItem(inventory.snapshots.ofBranch(node).length, branchName(inventory, node));
    case 'snapshot':
      return snapshotItem(node, inventory.snapshots.get(node.projectId, node.snapshotId));
    case 'unreadable':
      return unreadableRecordItem(
        node.recordId ?? (node.projectId === undefined ? l10n.t('Project') : l10n.t('Compute')),
        node.field,
      );
    case 'failure':
      return failureItem(node, inventory.computesOf(node.projectId)?.failure);
    case 'noComputes':
      return hintItem(l10n.t('No computes'), node.kind);
    case 'more':
      return moreItem((inventory.projects?.entries.size ?? 0) - node.shown);
    case 'setUpPostgres':
      return setUpPostgresItem();
    default:
      return node satisfies never;
  }
}

const branchName = (inventory: Inventory, { projectId, branchId }: BranchIds): string =>
  branchTitle(branchId, inventory.branches.get(projectId, branchId));

function projectItem(inventory: Inventory, node: ProjectNode, facts: RowFacts): TreeItem {
  const { projectId } = node;
  const project = inventory.project(projectId);
  const label = nameOrId(project?.name, projectId);
  const { Collapsed, Expanded } = TreeItemCollapsibleState;
  const { isFirst = false, isExpanded = false } = facts;
  const item = new TreeItem(label, isFirst || isExpanded ? Expanded : Collapsed);
  // VS Code expands only a row that it doesn't know yet. It may silently not expand one that is revealed while rows are redrawn.
  if (isFirst) item.id = `${nodeId(node)} first`;
  item.iconPath = new ThemeIcon('project');
  item.contextValue = inventory.branches.isOffered ? 'project branches' : 'project';
  const name = l10n.t('Project {0}', label);
  item.accessibilityInformation = { label: name };
  const isLocked = project?.locked === true;
  const parts = [project?.region_id ?? '', isLocked ? l10n.t('locked') : ''].filter((part) => part !== '');
  if (parts.length > 0) item.description = parts.join(' · ');
  if (isLocked) item.accessibilityInformation = { label: `${name}, ${l10n.t('locked')}` };
  if (project !== undefined) return item;
  item.description = l10n.t('details not available');
  item.accessibilityInformation = { label: `${name}, ${item.description}` };
  return item;
}

/** Returns the fields that a project's row, tooltip and menu depend on, as one text. */
export function projectFields(inventory: Inventory, projectId: string): string {
  const { isOffered } = inventory.branches;
  const project = inventory.project(projectId);
  if (project === undefined) return '';
  const { name, region_id, pg_version, created_at, locked, branch_logical_size_limit } = project;
  const shown = [name, region_id, pg_version, created_at, locked, branch_logical_size_limit];
  return JSON.stringify([...shown, usageStep(project), isOffered]);
}

function branchItem(inventory: Inventory, node: BranchNode, facts: RowFacts): TreeItem {
  const branch = inventory.branches.get(node.projectId, node.branchId);
  const children = childNodes(inventory, node);
  const isEmpty = children.length === 0;
  const hasNoComputes = !children.some(({ kind }) => kind === 'compute');
  const kept = keptForUndo(inventory, node);
  const { label, parts, spoken } = branchRow(node.branchId, branch, { ...facts, hasNoComputes, kept });
  const { Expanded, None } = TreeItemCollapsibleState;
  const item = new TreeItem(label, isEmpty ? None : Expanded);
  // With the same id, VS Code wouldn't expand the row when it gets its first compute.
  if (isEmpty) item.id = `${nodeId(node)} empty`;
  item.iconPath = branchIcon(branch, facts);
  if (parts.length > 0) item.description = parts.join(' · ');
  const flags = [...branchFlags(branch), primaryOf(inventory, node) === undefined ? '' : 'primary'];
  item.contextValue = ['branch', ...flags].filter((flag) => flag !== '').join(' ');
  item.accessibilityInformation = { label: [l10n.t('Branch {0}', label), ...spoken].join(', ') };
  return item;
}

/** Returns the flags for `when` clauses of menus. A branch whose record isn't loaded can't be changed. */
function branchFlags(branch: Branch | undefined): string[] {
  if (branch === undefined) return [];
  return [
    'listed',
    branch.default === true ? 'default' : 'other',
    branch.protected === true ? 'protected' : 'unprotected',
    branch.parent_id ? 'child' : 'root',
  ];
}

function computeItem(inventory: Inventory, { projectId, branchId, computeId }: ComputeNode): TreeItem {
  const compute = inventory.compute(projectId, computeId);
  // The compute was deleted since the last refresh. Its row is about to be removed.
  if (compute === undefined) return new TreeItem(computeId);
  const status = computeStatus(compute);
  const { label, description } = computeRow(compute);
  const item = new TreeItem(label);
  item.iconPath = computeIcon(compute);
  if (description !== '') item.description = description;
  const flags = [status, isPrimary(compute) ? 'read_write' : 'read_only'];
  if (compute.pooler_enabled === true) flags.push('pooled');
  if (lastFailure(compute) !== undefined) flags.push('failed');
  if (isLocalCompute(compute)) flags.push('local');
  item.contextValue = ['compute', ...flags].join(' ');
  // The name always comes first, because an id takes long to listen to.
  const spokenName = nameOrId(compute.name, label);
  const type = typeText(compute);
  const spoken = [l10n.t('Compute {0}', spokenName), statusText(compute), spokenName === type ? '' : type];
  // Several branches have a primary, which screen readers would read alike.
  const branch = nameUnlessId(inventory.branches.get(projectId, branchId));
  spoken.push(sizeText(compute), branch === undefined ? '' : l10n.t('on {0}', sanitize(branch)));
  if (spokenName !== compute.id) spoken.push(compute.id);
  item.accessibilityInformation = { label: spoken.filter((part) => part !== '').join(', ') };
  return item;
}

export function unreadableRecordItem(label: string, field: string): TreeItem {
  const item = warningItem(label, 'unreadable');
  item.description = l10n.t('unreadable (field {0})', field);
  return item;
}

function failureItem({ kind, projectId }: HintNode, error: unknown): TreeItem {
  const item = warningItem(l10n.t("Couldn't load: {0}", explainError(error).message), kind);
  const retry = { title: l10n.t('Try Again'), command: 'hostedPostgres.view.refresh' } satisfies OwnCommand;
  item.command = { ...retry, arguments: [{ kind: 'project', projectId }] };
  return item;
}

function setUpPostgresItem(): TreeItem {
  const title = l10n.t('Set Up Postgres…');
  const item = warningItem(title, 'setUpPostgres');
  item.command = { title, command: 'hostedPostgres.localService.setUpPostgres' } satisfies OwnCommand;
  return item;
}

function moreItem(left: number): TreeItem {
  const title = l10n.t('Load more…');
  const item = hintItem(title, 'more');
  item.description = l10n.t('{0} left', left);
  item.command = { title, command: 'hostedPostgres.view.showMore' } satisfies OwnCommand;
  return item;
}

function hintItem(label: string, contextValue: string): TreeItem {
  const item = new TreeItem(label);
  item.contextValue = contextValue;
  return item;
}

function warningItem(label: string, contextValue: string): TreeItem {
  const item = hintItem(label, contextValue);
  item.iconPath = new ThemeIcon('warning', new ThemeColor('list.warningForeground'));
  return item;
}

/** Returns undefined for nodes whose label says everything. @param activity why a compute is active */
export function nodeTooltip(
  inventory: Inventory,
  node: TreeNode,
  { activity, ...facts }: RowFacts & { readonly activity?: string | undefined } = {},
): MarkdownString | undefined {
  if (node.kind === 'project') {
    const project = inventory.project(node.projectId);
    if (project === undefined) return undefined;
    const limit = project.branch_logical_size_limit;
    return markdownTable(project.name, [
      [l10n.t('Id'), project.id],
      [l10n.t('Region'), project.region_id],
      ['Postgres', project.pg_version],
      [l10n.t('Locked'), project.locked === true ? l10n.t('yes, the service starts no computes') : undefined],
      [l10n.t('Branches up to'), limit && bytesText(limit * 1024 * 1024)],
      [l10n.t('Used this period'), usageText(recordedUsage(project))],
      [l10n.t('Created'), project.created_at && timeAndDate(project.created_at)],
    ]);
  }
  if (node.kind === 'branch') {
    const branch = inventory.branches.get(node.projectId, node.branchId);
    const parent = branch?.parent_id ? inventory.branches.get(node.projectId, branch.parent_id) : undefined;
    return branch && branchTooltip(branch, parent, { ...facts, kept: keptForUndo(inventory, node) });
  }
  if (node.kind === 'snapshot') {
    const snapshot = inventory.snapshots.get(node.projectId, node.snapshotId);
    return snapshot && snapshotTooltip(snapshot);
  }
  if (node.kind !== 'compute') return undefined;
  const compute = inventory.compute(node.projectId, node.computeId);
  const branch = inventory.branches.get(node.projectId, node.branchId);
  return compute && computeTooltip(compute, nameUnlessId(branch), branch && recordedUsage(branch), activity);
}

/** The scheme for the URI of a marked row, which contains the mark. There is no such file. */
const SCHEME = 'hosted-postgres-mark';

/**
 * Adds a mark to a row. Projects and branches get a color and a badge, which need a URI. Computes are below them, and get only text for screen
 * readers: if their rows had a URI, dropping one into an editor would open it instead of inserting the host.
 */
export function markItem(item: TreeItem, node: TreeNode, mark: Mark): TreeItem {
  const text = markText(mark);
  if (node.kind !== 'compute')
    item.resourceUri = Uri.from({ scheme: SCHEME, path: `/${mark}/${item.id ?? ''}` });
  if (node.kind === 'project')
    item.description = [item.description, text].filter((part) => typeof part === 'string').join(' · ');
  const { label = '' } = item.accessibilityInformation ?? {};
  if (label !== '') item.accessibilityInformation = { label: `${label}, ${text}` };
  return item;
}

export const markDecorations: FileDecorationProvider = {
  provideFileDecoration: ({ scheme, path }) => {
    const mark = scheme === SCHEME ? MARKS.find((name) => path.startsWith(`/${name}/`)) : undefined;
    return mark && markDecoration(mark);
  },
};

const markDecoration = (mark: Mark): FileDecoration =>
  mark === 'production'
    ? new FileDecoration(
        'P',
        l10n.t('Production: type the name to confirm each change'),
        new ThemeColor('hostedPostgres.productionForeground'),
      )
    : new FileDecoration(
        'R',
        l10n.t('Read-only: all changes are blocked'),
        new ThemeColor('hostedPostgres.readOnlyForeground'),
      );

/** Whether the row shows the mark that the user has given to its account or project. */
export const showsMark = (node: TreeNode): node is ProjectNode | BranchNode | ComputeNode =>
  node.kind === 'project' || node.kind === 'branch' || node.kind === 'compute';
