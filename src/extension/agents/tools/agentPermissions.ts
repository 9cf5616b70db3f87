/**
 * Decides which changes an agent may make without a question: changes of the branches that it has created. All others need the
 * user's approval: see `ToolDependencies.approve`.
 */
import type { Branch } from '../../../api/records/records.ts';
import type { BranchList } from '../../inventory/branchLists.ts';
import { requireAgentLogin, findAgentReader } from '../agentLogin.ts';
import type { BranchLogin } from '../../connection/sqlSession.ts';
import { ConnectionClosedError } from '../../window/changeErrors.ts';
import { branchTitle } from '../../inventory/names.ts';
import type { ToolCall, ToolDependencies } from './toolCall.ts';
import type { BranchIds, BranchRef } from '../../account/refs.ts';

/** What these checks read of a call. */
interface GateCall extends Pick<ToolCall<unknown>, 'agent' | 'worktree' | 'account' | 'connection'> {
  readonly deps: Pick<ToolDependencies, 'guards' | 'inventory' | 'agentBranches'>;
}

/** A branch that an agent has named, as it is now. */
export interface GatedBranch extends BranchRef {
  readonly branch: Branch;
  readonly list: BranchList;
  readonly title: string;
  /** Whether the agent may change the branch without a question, see `isOwnBranch`. */
  readonly isOwn: boolean;
}

/**
 * Loads the branches of a project, because an old list may lack a child or a new protection.
 * @throws {Error} with a message for the agent
 */
export async function requireFreshBranches(
  { deps: { inventory, agentBranches }, account, connection }: GateCall,
  projectId: string,
): Promise<BranchList> {
  inventory.branches.markChanged(projectId);
  const list = await inventory.branches.refresh(projectId);
  // By now, the list may be that of another account.
  if (connection.isClosed) throw new ConnectionClosedError(false);
  const failure = inventory.branches.failure(projectId);
  if (failure !== undefined) throw failure;
  if (list === undefined)
    throw new Error(
      inventory.branches.isOffered
        ? `Couldn't load the branches of ${projectId}. Does the project exist?`
        : "This service doesn't list branches, or this API key doesn't allow it.",
    );
  agentBranches.update({ account, projectId }, list);
  return list;
}

/** Loads the branch that an agent has named. @throws {Error} with a message for the agent if the branch isn't in the project */
export async function findGatedBranch(
  call: GateCall,
  { projectId, branchId }: BranchIds,
): Promise<GatedBranch> {
  const list = await requireFreshBranches(call, projectId);
  const branch = list.branches.get(branchId);
  if (branch === undefined)
    throw new Error(`${projectId} has no branch ${branchId}. It may have been deleted.`);
  const ref = { account: call.account, projectId, branchId };
  const isOwn = isOwnBranch(call, list, ref);
  return { ...ref, branch, list, title: branchTitle(branchId, branch), isOwn };
}

/** Whether an agent may reset, delete and write to a branch without a question. @param list a list that was just loaded */
export function isOwnBranch(call: GateCall, list: BranchList, ref: BranchRef): boolean {
  const { agentBranches, guards } = call.deps;
  const branch = list.branches.get(ref.branchId);
  return (
    branch !== undefined &&
    branch.default !== true &&
    list.childrenOf(branch.id).length === 0 &&
    // A protected branch counts as marked.
    guards.cachedMark(ref) === undefined &&
    agentBranches.isMadeBy(ref, call)
  );
}

/**
 * The most characters of a statement that the user is asked about. Of a longer one, the user would not see the end, which may be what
 * matters.
 */
const MAX_ASKED = 500;

/**
 * Returns the login with which an agent reads. A local service has a login that only reads. On other services, it is the owner's login,
 * with whose rights all code runs that the statement uses. So the user is asked about each statement, unless the branch is the agent's
 * own.
 * @param sql the statement, or the table
 * @throws {Error} with a message for the agent, for example if the user doesn't approve
 */
export async function findReadingLogin(
  call: ToolCall<unknown>,
  branch: BranchIds & Pick<GatedBranch, 'isOwn' | 'title'>,
  { database, sql }: { readonly database?: string | undefined; readonly sql: string },
): Promise<BranchLogin> {
  const { deps, connection, agent, signal } = call;
  const { projectId, branchId, isOwn, title: name } = branch;
  const request = { connection, signal, projectId, branchId, database };
  const reader = connection.isLocal ? await findAgentReader(deps.inventory, request) : undefined;
  if (reader !== undefined) return reader;
  if (!isOwn) {
    if (sql.length > MAX_ASKED)
      throw new Error(
        `The user is asked about each statement on ${branchId}, and can't read one of more than ${MAX_ASKED} characters. Create a branch of your own, where you may run any.`,
      );
    await deps.approve({ projectId, branchId, kind: 'read', name, agent, sql }, connection, signal);
  }
  return await requireAgentLogin(deps.inventory, request);
}
