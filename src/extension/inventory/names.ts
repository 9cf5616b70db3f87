/** The names of branches, projects and connections, for people. */
import type { Branch, Compute } from '../../api/records/records.ts';
import { displayName, nameOrId } from '../../base/sanitize.ts';
import { isPrimary } from './computeStatus.ts';
import type { Inventory } from './inventory.ts';

/** The branch's name, or its id if it has no name. */
export const branchTitle = (id: string, branch: Branch | undefined): string => nameOrId(branch?.name, id);

/** The branch's name; undefined if it has none or it is the same as the id. */
export const nameUnlessId = (branch: Branch | undefined): string | undefined =>
  branch === undefined || branch.name === '' || branch.name === branch.id ? undefined : branch.name;

export const projectName = (inventory: Pick<Inventory, 'project'>, id: string): string =>
  nameOrId(inventory.project(id)?.name, id);

/** What other programs show for a connection, such as `shop / main`, with the compute if it isn't the branch's primary. */
export function connectionName(inventory: Inventory, compute: Compute): string {
  const { project_id: projectId, branch_id: branchId } = compute;
  const branch = branchTitle(branchId, inventory.branches.get(projectId, branchId));
  const names = [projectName(inventory, projectId), branch];
  return (isPrimary(compute) ? names : [...names, displayName(compute)]).join(' / ');
}
