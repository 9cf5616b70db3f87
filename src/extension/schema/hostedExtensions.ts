/** The extensions that hosted branches have. */
import { createdExtensions } from '../../base/sql/createdExtensions.ts';
import type { Schemas } from './schemas.ts';

interface BranchLists {
  ensureLoaded(
    projectId: string,
  ): Promise<{ readonly default: { readonly id: string } | undefined } | undefined>;
}

interface Model {
  readonly session: { readonly connection: { readonly isLocal: boolean } | undefined };
  readonly inventory: { readonly branches: BranchLists };
  readonly schemas: Schemas;
}

const MAX_PROJECTS = 5;

/** Reads the default branches of projects. Those that can't be read are left out, and so is the local service. */
export async function namesInBranches(model: Model, projectIds: readonly string[]): Promise<string[]> {
  if (model.session.connection?.isLocal !== false) return [];
  const found = projectIds.slice(0, MAX_PROJECTS).map(async (id) => namesInDefault(model, id));
  const settled = await Promise.allSettled(found);
  return settled.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
}

async function namesInDefault({ inventory, schemas }: Model, projectId: string): Promise<string[]> {
  const branch = (await inventory.branches.ensureLoaded(projectId))?.default;
  if (branch === undefined) return [];
  const databases = await schemas.databases(projectId, branch.id, {});
  const texts = databases.map(async (database) =>
    schemas.read({ projectId, branchId: branch.id, database }, {}),
  );
  return (await Promise.all(texts)).flatMap(createdExtensions);
}
