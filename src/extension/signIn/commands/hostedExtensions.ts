/** The extensions that hosted branches have. */
import { findCreatedExtensions } from '../../../base/sql/createdExtensions.ts';
import { primaryOf } from '../../inventory/branchStatus.ts';
import { computeStatus } from '../../inventory/computeStatus.ts';
import type { Inventory } from '../../inventory/inventory.ts';
import type { Schemas } from '../../database/schema/schemas.ts';

interface Model {
  readonly session: { readonly connection: { readonly isLocal: boolean } | undefined };
  readonly inventory: Inventory;
  readonly schemas: Schemas;
}

const MAX_PROJECTS = 5;

/**
 * Returns the names of the extensions in the default branches of the first projects; none for the local service. Branches that
 * can't be read are left out. So are those whose primary isn't active, because reading would start it without a warning.
 */
export async function findHostedExtensions(model: Model, projectIds: readonly string[]): Promise<string[]> {
  if (model.session.connection?.isLocal !== false) return [];
  const found = projectIds.slice(0, MAX_PROJECTS).map(async (id) => findExtensionsInDefaultBranch(model, id));
  const settled = await Promise.allSettled(found);
  return settled.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
}

async function findExtensionsInDefaultBranch(
  { inventory, schemas }: Model,
  projectId: string,
): Promise<string[]> {
  const branch = (await inventory.branches.ensureLoaded(projectId))?.default;
  const primary = branch && primaryOf(inventory, { projectId, branchId: branch.id });
  if (branch === undefined || primary === undefined || computeStatus(primary) !== 'active') return [];
  const databases = await schemas.databases(projectId, branch.id, {});
  const texts = databases.map(async (database) =>
    schemas.read({ projectId, branchId: branch.id, database }, {}),
  );
  return (await Promise.all(texts)).flatMap(findCreatedExtensions);
}
