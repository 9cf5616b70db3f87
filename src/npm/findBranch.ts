/** Finds the branch that a user has named, or that needs no name. */
import { TEST_PROJECT } from '../localService/ownFolder.ts';
import { StartError } from '../service/core/serviceErrors.ts';
import type { ServiceApi, Branch } from './api.ts';

interface BranchQuery {
  /** The only project to look in; undefined for all. */
  readonly projectId?: string | undefined;
  /** The name or id of the branch; undefined for the default branch of the only project. */
  readonly named: string | undefined;
  /** The option that names a branch. */
  readonly option: string;
}

/**
 * Finds one branch. The project of `hosted-postgres/test`, which stays empty, counts only for branches that no other project has.
 * @throws {StartError} `usage` if there is none, or if there are several, which the message lists
 */
export async function findBranch(
  api: ServiceApi,
  { projectId, named, option }: BranchQuery,
): Promise<Branch> {
  const projects = projectId === undefined ? await api.listProjects() : [{ id: projectId, name: projectId }];
  const listed = await Promise.all(
    projects.map(async ({ id, name: project }) =>
      (await api.listBranches(id)).map((branch) => ({ branch, project })),
    ),
  );
  const matching = listed
    .flat()
    .filter(({ branch: { id, name, default: isDefault } }) =>
      named === undefined ? isDefault : named === id || named === name,
    );
  const own = matching.filter(({ project }) => project === TEST_PROJECT);
  const others = matching.filter((each) => !own.includes(each));
  const found = others.length > 0 || named === undefined ? others : own;
  const [first, second] = found;
  if (first === undefined) throw new StartError('usage', missingText(named, option, own.length > 0));
  if (second === undefined) return first.branch;
  const list = found.map(({ branch: { id, name }, project }) => `\n  ${id} (${name} of ${project})`).join('');
  const which = named === undefined ? 'There are several projects' : `Several branches are called ${named}`;
  throw new StartError('usage', `${which}. Name a branch by its id, with ${option}:${list}`);
}

function missingText(named: string | undefined, option: string, isEmpty: boolean): string {
  if (named !== undefined) return `There is no branch ${named}`;
  return isEmpty
    ? `There is only the project of hosted-postgres/test, which has no data. Name a branch with ${option}`
    : 'There is no branch';
}
