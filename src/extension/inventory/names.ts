/** The names of branches, projects and connections, for people. */
import type { Branch, Compute } from '../../api/records/records.ts';
import { displayName, nameOrId } from '../../base/sanitize.ts';
import { isPrimary } from './computeStatus.ts';
import type { Inventory } from './inventory.ts';
import type { ResourceRef } from '../account/refs.ts';

/** Returns the branch's name, or its id if it has no name. */
export const branchTitle = (id: string, branch: Branch | undefined): string => nameOrId(branch?.name, id);

/** Returns the branch's name; undefined if it has none or it is the same as the id. */
export const nameUnlessId = (branch: Branch | undefined): string | undefined =>
  branch === undefined || branch.name === '' || branch.name === branch.id ? undefined : branch.name;

/** The names of a resource and of what it is in. They are kept with a change, because a deleted resource can't be looked up. */
export interface ResourceNames {
  readonly project: string;
  /** Undefined for a project. */
  readonly branch?: string | undefined;
  /** Undefined for a project or branch. */
  readonly compute?: { readonly name: string; readonly isPrimary?: boolean } | undefined;
  readonly snapshot?: string | undefined;
}

export function namesOf(
  inventory: Pick<Inventory, 'project' | 'compute' | 'branches'>,
  { projectId, branchId, computeId, name, snapshot }: ResourceRef,
): ResourceNames {
  const compute = computeId === undefined ? undefined : inventory.compute(projectId, computeId);
  // A compute may have moved to another branch.
  const id = compute?.branch_id ?? branchId;
  const branch = id === undefined ? undefined : inventory.branches.get(projectId, id);
  const isCompute = computeId !== undefined;
  const isProject = branchId === undefined && !isCompute;
  return {
    // A new project or branch isn't listed yet.
    project: nameOrId(inventory.project(projectId)?.name ?? (isProject ? name : undefined), projectId),
    ...(id !== undefined && { branch: nameOrId(branch?.name ?? (isCompute ? undefined : name), id) }),
    ...(isCompute && {
      compute: {
        name: nameOrId(compute?.name ?? name, computeId),
        ...(compute !== undefined && { isPrimary: isPrimary(compute) }),
      },
    }),
    ...(snapshot !== undefined && { snapshot }),
  };
}

/** Returns what a tab calls a document of a resource: the names that the service gives, and for a primary that of its branch. */
export function documentTitle(inventory: Parameters<typeof namesOf>[0], resource: ResourceRef): string {
  const { project, branch, compute } = namesOf(inventory, resource);
  const parts = [branch ?? project, compute?.isPrimary === true ? '' : (compute?.name ?? '')];
  return withoutSlashes(parts.filter((part) => part !== '').join(' '));
}

/** Replaces slashes in a title: VS Code shows only the last segment of a document's path. */
export const withoutSlashes = (name: string): string => name.replaceAll(/[/\\]/g, '-');

export const projectName = (inventory: Pick<Inventory, 'project'>, id: string): string =>
  nameOrId(inventory.project(id)?.name, id);

/** Returns what other programs show for a connection, such as `shop / main`, with the compute if it isn't the branch's primary. */
export function connectionName(inventory: Inventory, compute: Compute): string {
  const { project_id: projectId, branch_id: branchId } = compute;
  const branch = branchTitle(branchId, inventory.branches.get(projectId, branchId));
  const names = [projectName(inventory, projectId), branch];
  return (isPrimary(compute) ? names : [...names, displayName(compute)]).join(' / ');
}
