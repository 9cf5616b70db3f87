/** The nodes of the Computes view: ids, parents and children. */
import { isRejected } from '../../../api/transport/errors.ts';
import type { UnreadableRecord } from '../../../api/transport/parseResponse.ts';
import { branchIdsOf } from '../branchStatus.ts';
import type { Inventory } from '../inventory.ts';
import {
  computeNodeOf,
  type BranchNode,
  type ComputeNode,
  type ProjectNode,
  type SnapshotNode,
  type SnapshotsNode,
} from '../nodes.ts';
import type { ColumnNode, DatabaseTreeNode, TableNode } from '../databaseNodes.ts';
import type { ResourceRef } from '../../account/refs.ts';

/** A record that couldn't be parsed. It is shown, so that the user knows about it. */
interface UnreadableNode {
  readonly kind: 'unreadable';
  /** Undefined for a project. */
  readonly projectId: string | undefined;
  readonly recordId: string | undefined;
  readonly field: string;
  readonly index: number;
}

/** A row that is shown if a project has no computes, or they couldn't be loaded. */
export interface HintNode {
  readonly kind: 'failure' | 'noComputes';
  readonly projectId: string;
}

/** `more` is the last root if not all projects are shown, and `setUpPostgres` the first root of a local service without Postgres. */
export type TreeNode =
  | ProjectNode
  | BranchNode
  | ComputeNode
  | UnreadableNode
  | HintNode
  | DatabaseTreeNode
  | SnapshotsNode
  | SnapshotNode
  | { readonly kind: 'more'; readonly shown: number }
  | { readonly kind: 'setUpPostgres' };

/** Returns an id that is stable, and unique in the whole tree. */
export function nodeId(node: TreeNode): string {
  switch (node.kind) {
    case 'project':
      return node.projectId;
    case 'branch':
      return `${node.projectId}/${node.branchId}`;
    case 'compute':
      return `${node.projectId}/${node.branchId}/${node.computeId}`;
    case 'databases':
    case 'snapshots':
      return `${node.projectId}/${node.branchId}!${node.kind}`;
    case 'snapshot':
      return `${node.projectId}/${node.branchId}!snapshots/${node.snapshotId}`;
    case 'database':
      return `${node.projectId}/${node.branchId}!databases/${node.database}`;
    case 'table':
      return JSON.stringify([node.projectId, node.branchId, node.database, node.schema, node.name]);
    case 'column':
      return JSON.stringify([nodeId(tableOfColumn(node)), node.name]);
    case 'function': {
      const { projectId, branchId, database, schema, name, parameters } = node;
      return JSON.stringify([projectId, branchId, database, schema, name, '()', parameters]);
    }
    case 'databaseHint':
      // Another hint has another id, because VS Code has to draw another row.
      return `${nodeId(node.parent)}!${typeof node.hint === 'string' ? node.hint : hintKey(node.hint)}`;
    case 'unreadable':
      return [node.projectId, 'unreadable', node.index, node.recordId, node.field].join('?');
    case 'failure':
    case 'noComputes':
      return `${node.projectId}!${node.kind}`;
    case 'more':
      return `…${node.shown}`;
    case 'setUpPostgres':
      return `!${node.kind}`;
    default:
      return node satisfies never;
  }
}

/** Returns the node of the table, which may be a view: its id doesn't depend on that. */
const tableOfColumn = ({ projectId, branchId, database, table }: ColumnNode): TableNode => ({
  kind: 'table',
  projectId,
  branchId,
  database,
  ...table,
  isView: false,
});

const hintKey = (hint: { readonly error: unknown } | { readonly more: number }): string =>
  'more' in hint ? `${hint.more} more` : String(hint.error);

export function parentNode(node: TreeNode): TreeNode | undefined {
  if (!('projectId' in node) || node.projectId === undefined || node.kind === 'project') return undefined;
  const { projectId } = node;
  switch (node.kind) {
    case 'compute':
    case 'databases':
    case 'snapshots':
      return { kind: 'branch', projectId, branchId: node.branchId };
    case 'snapshot':
      return { kind: 'snapshots', projectId, branchId: node.branchId };
    case 'database':
      return { kind: 'databases', projectId, branchId: node.branchId };
    case 'column':
      return tableOfColumn(node);
    case 'table':
    case 'function':
      return { kind: 'database', projectId, branchId: node.branchId, database: node.database };
    case 'databaseHint':
      return node.parent;
    default:
      return { kind: 'project', projectId };
  }
}

/** Returns the node of a resource; undefined if it isn't listed. */
export function findNode(
  inventory: Inventory,
  { projectId, branchId, computeId }: ResourceRef,
): TreeNode | undefined {
  if (computeId !== undefined) {
    const compute = inventory.compute(projectId, computeId);
    return compute && computeNodeOf(compute);
  }
  if (branchId === undefined)
    return inventory.projects?.entries.has(projectId) === true ? { kind: 'project', projectId } : undefined;
  const isListed = branchIdsOf(inventory, projectId).includes(branchId);
  return isListed ? { kind: 'branch', projectId, branchId } : undefined;
}

/** Returns the hosts of the computes among the nodes, one in each line; undefined if there are none. */
export function hostsText(inventory: Inventory, nodes: readonly TreeNode[]): string | undefined {
  const hosts = nodes.flatMap((node) => {
    if (node.kind !== 'compute') return [];
    return inventory.compute(node.projectId, node.computeId)?.host ?? [];
  });
  return hosts.length === 0 ? undefined : hosts.join('\n');
}

/** Returns the first `shown` projects. If these are all, the records that couldn't be parsed follow. */
export function roots(inventory: Inventory, shown: number): readonly TreeNode[] {
  const list = inventory.projects;
  if (list === undefined) return [];
  const ids = [...list.entries.keys()].slice(0, shown);
  const isAll = ids.length === list.entries.size;
  return [
    ...ids.map((projectId): TreeNode => ({ kind: 'project', projectId })),
    ...(isAll ? unreadableNodes(undefined, list.unreadable) : [{ kind: 'more', shown } as const]),
  ];
}

export function childNodes(inventory: Inventory, node: TreeNode): readonly TreeNode[] {
  if (node.kind === 'project') return childNodesOfProject(inventory, node.projectId);
  if (node.kind === 'snapshots') return snapshotNodes(inventory, node);
  if (node.kind !== 'branch') return [];
  const { projectId, branchId } = node;
  const computes = inventory.computesOf(projectId)?.branches().get(branchId) ?? [];
  const rows = computes.map(({ id }): TreeNode => ({ kind: 'compute', projectId, branchId, computeId: id }));
  // A compute reads the databases, and only branches that the service lists have these rows.
  const hasDatabases = rows.length > 0 && inventory.branches.get(projectId, branchId) !== undefined;
  if (hasDatabases) rows.push({ kind: 'databases', projectId, branchId });
  if (inventory.snapshots.ofBranch(node).length > 0) rows.push({ kind: 'snapshots', projectId, branchId });
  return rows;
}

const snapshotNodes = (inventory: Inventory, { projectId, branchId }: SnapshotsNode): readonly TreeNode[] =>
  inventory.snapshots
    .ofBranch({ projectId, branchId })
    .map(({ id }) => ({ kind: 'snapshot', projectId, branchId, snapshotId: id }));

function childNodesOfProject(inventory: Inventory, projectId: string): readonly TreeNode[] {
  const list = inventory.computesOf(projectId);
  if (list === undefined) return [];
  if (!list.isLoaded) return list.failure === undefined ? [] : [{ kind: 'failure', projectId }];
  const branches = branchIdsOf(inventory, projectId);
  const nodes: TreeNode[] = branches.map((branchId) => ({ kind: 'branch', projectId, branchId }));
  nodes.push(...unreadableNodes(projectId, list.unreadable));
  return nodes.length === 0 ? [{ kind: 'noComputes', projectId }] : nodes;
}

const unreadableNodes = (projectId: string | undefined, records: readonly UnreadableRecord[]): TreeNode[] =>
  records.map(({ id, field }, index) => ({ kind: 'unreadable', projectId, recordId: id, field, index }));

/** Returns the failure to show above the tree, if visible data couldn't be refreshed. */
export function visibleRefreshFailure(inventory: Inventory, projectIds: Iterable<string>): unknown {
  const failure = inventory.projects?.failure;
  if (failure !== undefined) return failure;
  for (const id of projectIds) {
    const list = inventory.computesOf(id);
    // 404: the project was deleted by another client. The next refresh of the projects removes it.
    if (list?.isLoaded === true && list.failure !== undefined && !isRejected(list.failure, 404))
      return list.failure;
  }
  return undefined;
}
