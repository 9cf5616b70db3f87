/** Finds the project that an agent means if it names none. */
import { EMPTY_MAP, readBranchMap, type BranchMap } from '../../gitBranch/branchMap.ts';
import { findRepository } from '../../../base/git/repository.ts';
import type { ToolCall } from './toolCall.ts';
import { projectName } from '../../inventory/names.ts';

interface AgentProject {
  readonly projectId: string;
  /** The parent of new branches that the user has chosen for the agent's repository. */
  readonly parentId: string | undefined;
}

/** An error names at most this many projects. */
const MAX_NAMED = 20;

/** Returns the project that the agent names, that of its git repository, or the only one. @throws {Error} with a message for the agent */
export async function findAgentProject({
  deps,
  account,
  input,
  folder,
}: ToolCall<{ readonly projectId?: string | undefined }>): Promise<AgentProject> {
  const { parent, branches } = await readFolderMap(deps, folder).catch((error: unknown) => {
    if (input.projectId === undefined) throw error;
    return EMPTY_MAP;
  });
  const mapped = [parent, ...branches.values()].filter((ref) => ref !== undefined && ref !== 'none');
  const ofRepository = mapped.find((ref) => ref.account === account)?.projectId;
  const projectId = input.projectId ?? ofRepository ?? (await requireOnlyProject(deps));
  const isHere = parent?.account === account && parent.projectId === projectId;
  return { projectId, parentId: isHere ? parent.branchId : undefined };
}

/** @throws {Error} with a message for the agent if git fails */
async function readFolderMap(
  { runGit }: ToolCall<unknown>['deps'],
  folder: string | undefined,
): Promise<BranchMap> {
  const isInRepository = folder !== undefined && (await findRepository(folder)) !== undefined;
  return isInRepository ? await readBranchMap(runGit, folder) : EMPTY_MAP;
}

async function requireOnlyProject({ inventory }: ToolCall<unknown>['deps']): Promise<string> {
  await inventory.projects?.load();
  const ids = [...(inventory.projects?.entries.keys() ?? [])];
  const [only, another] = ids;
  if (only === undefined) throw new Error('The account has no project.');
  if (another === undefined) return only;
  const names = ids.slice(0, MAX_NAMED).map((id) => `${id} (${projectName(inventory, id)})`);
  throw new Error(`Name a projectId: ${names.join(', ')}${ids.length > MAX_NAMED ? ' …' : ''}`);
}
