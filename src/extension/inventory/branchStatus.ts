/**
 * The order of branches in the sidebar and pickers, their primary computes, whether their project is gone, and why the service
 * wouldn't delete a branch.
 */
import { isRejected } from '../../api/transport/errors.ts';
import type { Branch, Compute } from '../../api/records/records.ts';
import type { BranchList } from './branchLists.ts';
import type { BranchIds } from '../account/refs.ts';
import { compareNames, isPrimary } from './computeStatus.ts';
import { branchTitle } from './names.ts';
import type { Inventory } from './inventory.ts';

/** Returns the ids of a project's branches that the loaded branches or computes name: the default one first, if known, then by name. */
export function branchIdsOf(inventory: Inventory, projectId: string): readonly string[] {
  const list = inventory.branches.forProject(projectId);
  const withComputes = inventory.computesOf(projectId)?.branches().keys() ?? [];
  const ids = new Set([...withComputes, ...(list?.branches.keys() ?? [])]);
  const titles = new Map([...ids].map((id) => [id, branchTitle(id, list?.branches.get(id))]));
  const titleOf = (id: string) => titles.get(id) ?? id;
  const sorted = [...ids].sort((a, b) => compareNames(titleOf(a), titleOf(b)) || (a < b ? -1 : 1));
  const defaultId = list?.default?.id;
  return defaultId === undefined ? sorted : [defaultId, ...sorted.filter((id) => id !== defaultId)];
}

/** Returns the loaded computes of a branch. */
export const loadedComputes = (
  inventory: Pick<Inventory, 'computesOf'>,
  { projectId, branchId }: BranchIds,
): readonly Compute[] => inventory.computesOf(projectId)?.branches().get(branchId) ?? [];

/** Returns the loaded compute to connect to. */
export const primaryOf = (inventory: Pick<Inventory, 'computesOf'>, branch: BranchIds): Compute | undefined =>
  loadedComputes(inventory, branch).find(isPrimary);

/** Finds the compute to connect to, also if the loaded list is older than the branch. */
export async function findPrimary(inventory: Inventory, ids: BranchIds): Promise<Compute | undefined> {
  const { projectId } = ids;
  await Promise.all([inventory.loadComputes(projectId), inventory.branches.ensureLoaded(projectId)]);
  if (primaryOf(inventory, ids) === undefined) await inventory.refreshComputes(projectId);
  return primaryOf(inventory, ids);
}

type ProjectInventory = Pick<Inventory, 'computesOf' | 'ensureComputes' | 'projects'>;

/**
 * Asks for the computes of a project that is no longer listed, whose lists are forgotten. It may have been deleted, which
 * {@link isKnownGone} knows after the reply, or another organization was chosen.
 */
export function askForUnlisted(inventory: ProjectInventory, projectId: string): void {
  const { projects } = inventory;
  if (projects?.isLoaded !== true || inventory.computesOf(projectId) !== undefined) return;
  if (!projects.isListed(projectId)) void inventory.ensureComputes(projectId);
}

/** Whether the service has answered that there is no such project. */
export const isKnownGone = (inventory: Pick<Inventory, 'computesOf'>, projectId: string): boolean =>
  isRejected(inventory.computesOf(projectId)?.failure, 404);

/**
 * Whether the branch can be used, as it can't be while the service creates or resets it. An archived branch can be used, but
 * responds slowly at first.
 */
export const isBranchReady = ({ current_state: state }: Branch): boolean =>
  state === undefined || state === null || state === 'ready' || state === 'archived';

/** The undo because of which a branch keeps data. */
export interface KeptForUndo {
  /** The branch that was undone; undefined if it isn't listed. */
  readonly of: Branch | undefined;
  /** When the branch was undone, in milliseconds since 1970. */
  readonly time: number;
}

/** Returns the undo from which the branch keeps the former data; undefined if the branch was created for something else. */
export function keptForUndo(
  { branches }: Pick<Inventory, 'branches'>,
  { projectId, branchId }: BranchIds,
): KeptForUndo | undefined {
  const branch = branches.get(projectId, branchId);
  // A branch that was made from a snapshot has a status.
  if (!branch?.restored_as || branch.restore_status) return undefined;
  const of = branches.get(projectId, branch.restored_as);
  const times = [branch, of].map((each) => Date.parse(each?.created_at ?? '') || 0);
  // The undo has created one of the two branches. To restore a snapshot, it creates a branch with that data. To go back to a time,
  // it creates the branch that keeps the data from before. So the later creation is the time of the undo.
  return { of, time: Math.max(...times) };
}

/** Returns the branches with data that the branch had before an undo. */
export const branchesKeptForUndo = (
  inventory: Pick<Inventory, 'branches'>,
  { projectId, branchId }: BranchIds,
): readonly Branch[] =>
  [...(inventory.branches.forProject(projectId)?.branches.values() ?? [])].filter(
    ({ id }) => keptForUndo(inventory, { projectId, branchId: id })?.of?.id === branchId,
  );

/** Why the service doesn't delete a branch. */
export type DeletionProblem =
  | { readonly kind: 'default' | 'root' }
  | { readonly kind: 'parent'; readonly child: Branch };

export function deletionProblem(list: BranchList, branch: Branch): DeletionProblem | undefined {
  if (branch.default === true) return { kind: 'default' };
  if (!branch.parent_id) return { kind: 'root' };
  const [child] = list.childrenOf(branch.id);
  return child && { kind: 'parent', child };
}
