/** Creates a branch for an agent, which always expires, and writes its URL to an env file in the agent's folder. */
import { randomBytes } from 'node:crypto';
import type { Branch, Compute } from '../../../api/records/records.ts';
import type { AccountConnection } from '../../account/accountConnection.ts';
import { findBranchLogin, findRole } from '../branchLogin.ts';
import type { ToolInput } from '../toolSchemas.ts';
import { connectionString } from '../../connection/connectionStrings.ts';
import type { BranchList } from '../../inventory/branchLists.ts';
import { branchTitle } from '../../inventory/branchStatus.ts';
import type { BranchRef } from '../../workBranch/branchMap.ts';
import { databaseBranchName } from '../../workBranch/branchName.ts';
import { findPrimary } from '../../workBranch/findTarget.ts';
import { expiryAfter } from '../../workBranch/lifetime.ts';
import { nameOrId } from '../../../base/sanitize.ts';
import { prepareEnv, type PreparedEnv } from './agentEnv.ts';
import { findAgentProject } from './agentProject.ts';
import { changeBranch } from './branchChange.ts';
import { isOwnBranch, requireFreshBranches } from './gate.ts';
import { requireToolConnection, type ToolCall, type ToolFunction } from './toolCall.ts';

const DEFAULT_HOURS = 24;

/** Branches of agents in a project. For more, the user is asked, because they cost money. */
const MAX_UNASKED = 10;

type Call = ToolCall<ToolInput<'createBranch'>>;
type Project = Omit<BranchRef, 'branchId'>;

export const createBranch: ToolFunction<'createBranch'> = async (call) => {
  const { deps, input, signal } = call;
  const connection = requireToolConnection(deps);
  const { account, projectId, parentId } = await findAgentProject(call);
  const list = await requireFreshBranches(deps, projectId);
  const existing = ownBranchNamed(call, list, { account, projectId });
  const source = existing ?? requireParent(list, projectId, input.parentId ?? parentId);
  const ask = { connection, projectId, database: input.database, signal };
  // Check the agent's input before creating anything, so that an error leaves nothing behind.
  const { database, role } = await findRole({ ...ask, branchId: source.id });
  const env = await prepareEnv(call, account, input);
  const branch = existing ?? (await create(call, connection, { account, projectId }, source));
  const ref = { account, projectId, branchId: branch.id };
  const compute = await findPrimary(deps.inventory, ref);
  if (compute === undefined) throw new Error(`${branchTitle(branch.id, branch)} has no compute.`);
  const output = outputOf(projectId, branch, compute);
  const includePassword = input.includePassword === true;
  if (env === undefined && !includePassword) return { ...output, role, database };
  try {
    const { login } = await findBranchLogin(deps.inventory, { ...ask, branchId: branch.id });
    const connectionUrl = connectionString(login);
    await deps.knownHosts.remember(deps.inventory, account, [compute]);
    if (env !== undefined) await writeUrl(call, ref, env, connectionUrl);
    const secret = includePassword ? { connectionString: connectionUrl } : {};
    return { ...output, role, database, writtenTo: env?.path, ...secret };
  } catch (error) {
    return { ...output, role, database, note: deps.explain(error) };
  }
};

async function writeUrl({ deps }: Call, ref: BranchRef, env: PreparedEnv, url: string): Promise<void> {
  await env.write(url);
  const made = deps.agentBranches.find(ref);
  if (made !== undefined)
    await deps.agentBranches.add({ ...made, envFile: env.path, envVariable: env.variable });
}

const outputOf = (projectId: string, branch: Branch, compute: Compute) => ({
  projectId,
  branchId: branch.id,
  name: branchTitle(branch.id, branch),
  parentId: branch.parent_id ?? undefined,
  computeId: compute.id,
  host: compute.host,
  expiresAt: branch.expires_at ?? '',
});

/** So an agent whose call timed out gets the branch by calling again. @throws {Error} if it isn't the agent's */
function ownBranchNamed(call: Call, list: BranchList, project: Project): Branch | undefined {
  const existing = [...list.branches.values()].find(({ name }) => name === call.input.name?.trim());
  if (existing === undefined) return undefined;
  if (isOwnBranch(call.deps, call, list, { ...project, branchId: existing.id })) return existing;
  throw new Error(`There already is a branch with this name: ${existing.id}. Choose another name.`);
}

function requireParent(list: BranchList, projectId: string, parentId: string | undefined): Branch {
  const parent = parentId === undefined ? list.default : list.branches.get(parentId);
  if (parent === undefined)
    throw new Error(
      `${projectId} has no ${parentId === undefined ? 'default branch' : `branch ${parentId}`}.`,
    );
  if (parent.expires_at)
    throw new Error(`${parent.id} expires, so it can't have child branches. Choose another parent.`);
  return parent;
}

/** @throws {ApiError} @throws {Error} for the agent if the user doesn't approve, or it takes too long */
async function create(
  call: Call,
  connection: AccountConnection,
  { account, projectId }: Project,
  parent: Branch,
): Promise<Branch> {
  const { deps, input, agent, worktree } = call;
  await approveCreation(call, connection, { account, projectId });
  const name = input.name?.trim() || newName(agent);
  const expiresAt = expiryAfter((input.hours ?? DEFAULT_HOURS) * 60 * 60);
  const creation = {
    branch: { name, parent_id: parent.id, expires_at: expiresAt },
    endpoints: [{ type: 'read_write' as const }],
  };
  const made = { account, projectId, name, agent, worktree, createdAt: expiryAfter(0), expiresAt };
  const { branch, isPending } = await changeBranch(call, connection, async (options) => {
    const result = await deps.branchActions.create(projectId, creation, options);
    const { id: branchId } = result.branch ?? {};
    // At once, so that it is the agent's even if the call ends before the branch is ready.
    if (branchId !== undefined) await deps.agentBranches.add({ ...made, branchId });
    return result;
  });
  if (branch === undefined) throw new Error('The service has created no branch.');
  if (isPending)
    throw new Error(`${name} (${branch.id}) isn't ready yet. Call createBranch with this name again later.`);
  return branch;
}

async function approveCreation(
  { deps, agent, signal }: Call,
  connection: AccountConnection,
  { account, projectId }: Project,
): Promise<void> {
  const project = nameOrId(deps.inventory.project(projectId)?.name, projectId);
  const { length: count } = deps.agentBranches.all.filter(
    (made) => made.account === account && made.projectId === projectId,
  );
  const branches = count < MAX_UNASKED ? undefined : count;
  const change = { kind: 'create', projectId, name: project, agent, branches } as const;
  await deps.approve(change, connection, signal);
}

const newName = (agent: string): string =>
  `agent/${databaseBranchName(agent).slice(0, 60)}-${randomBytes(2).toString('hex')}`;
