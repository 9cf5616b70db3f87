/**
 * The nodes of the sidebar, the commands and the editor. A node has only ids; its record is looked up in the inventory
 * when it is shown.
 */
import { fieldsOf } from '../../base/fieldsOf.ts';
import type { Compute } from '../../api/records/records.ts';
import type { BranchIds, ComputeIds } from '../account/refs.ts';
import { isApiKeyId, isBranchId, isComputeId, isId } from '../../api/records/ids.ts';

export interface ProjectNode {
  readonly kind: 'project';
  readonly projectId: string;
}

export interface BranchNode extends BranchIds {
  readonly kind: 'branch';
}

export interface ComputeNode extends BranchIds, ComputeIds {
  readonly kind: 'compute';
}

/** The row of all snapshots of a branch. */
export interface SnapshotsNode extends BranchIds {
  readonly kind: 'snapshots';
}

export interface SnapshotNode extends BranchIds {
  readonly kind: 'snapshot';
  readonly snapshotId: string;
}

/** The smallest part that changed. `all` is another account. `key` is another key of the account, after which lists are refreshed. */
export type InventoryEvent =
  | { readonly kind: 'all' }
  | { readonly kind: 'key' }
  | { readonly kind: 'projects' }
  | ProjectNode
  | BranchNode
  | ComputeNode;

/** Returns the ids of the projects in which something has changed. */
export const changedProjects = (changes: readonly InventoryEvent[]): ReadonlySet<string> =>
  new Set(changes.flatMap((change) => ('projectId' in change ? change.projectId : [])));

export interface ApiKeyNode {
  readonly kind: 'apiKey';
  readonly keyId: number;
}

export const computeNodeOf = ({
  project_id: projectId,
  branch_id: branchId,
  id: computeId,
}: Compute): ComputeNode => ({ kind: 'compute', projectId, branchId, computeId });

/** Reads a command's argument, which may be anything. @returns a project, or undefined */
export function asProjectNode(value: unknown): ProjectNode | undefined {
  const { kind, projectId } = fieldsOf(value);
  return kind === 'project' && isId(projectId) ? { kind, projectId } : undefined;
}

export function asBranchNode(value: unknown): BranchNode | undefined {
  const { kind, projectId, branchId } = fieldsOf(value);
  return kind === 'branch' && isId(projectId) && isBranchId(branchId)
    ? { kind, projectId, branchId }
    : undefined;
}

export function asComputeNode(value: unknown): ComputeNode | undefined {
  const { kind, projectId, branchId, computeId } = fieldsOf(value);
  return kind === 'compute' && isId(projectId) && isId(branchId) && isComputeId(computeId)
    ? { kind, projectId, branchId, computeId }
    : undefined;
}

/** Reads the row of a branch's snapshots from a command's argument. @returns the branch */
export function asBranchOfSnapshots(value: unknown): BranchNode | undefined {
  const { kind, ...ids } = fieldsOf(value);
  return kind === 'snapshots' ? asBranchNode({ ...ids, kind: 'branch' }) : undefined;
}

export function asSnapshotNode(value: unknown): SnapshotNode | undefined {
  const { kind, projectId, branchId, snapshotId } = fieldsOf(value);
  return kind === 'snapshot' && isId(projectId) && isBranchId(branchId) && isId(snapshotId)
    ? { kind, projectId, branchId, snapshotId }
    : undefined;
}

export function asApiKeyNode(value: unknown): ApiKeyNode | undefined {
  const { kind, keyId } = fieldsOf(value);
  return kind === 'apiKey' && isApiKeyId(keyId) ? { kind, keyId } : undefined;
}

/** Whether the row is that of the compute, of its branch or of its project. @param row any argument of a command */
export function isComputeWithin(compute: ComputeNode, row: unknown): boolean {
  const computeId = asComputeNode(row)?.computeId;
  if (computeId !== undefined) return computeId === compute.computeId;
  const branch = asBranchNode(row);
  if (branch !== undefined) return branch.branchId === compute.branchId;
  return asProjectNode(row)?.projectId === compute.projectId;
}
