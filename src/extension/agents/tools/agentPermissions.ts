/**
 * Which changes an agent may make without a question: those of the branches that it has created. All others need the user's
 * approval: see `ToolDependencies.approve`.
 */
import type { Branch } from '../../../api/records/records.ts';
import type { BranchList } from '../../inventory/branchLists.ts';
import { findPrimary } from '../../inventory/branchStatus.ts';
import { branchTitle } from '../../inventory/names.ts';
import { computeStatus } from '../../inventory/computeStatus.ts';
import { computeNodeOf } from '../../inventory/nodes.ts';
import { displayName } from '../../../base/sanitize.ts';
import type { ToolCall, ToolDependencies } from './toolCall.ts';
import type { BranchIds, BranchRef } from '../../account/refs.ts';

/** What the gate reads of a call. */
interface GateCall extends Pick<ToolCall<unknown>, 'agent' | 'worktree' | 'account'> {
  readonly deps: Pick<ToolDependencies, 'guards' | 'inventory' | 'agentBranches'>;
}

/** A branch that an agent has named, as it is now. */
export interface GatedBranch extends BranchRef {
  readonly branch: Branch;
  readonly list: BranchList;
  readonly title: string;
  /** See `isOwnBranch`. */
  readonly isOwn: boolean;
}

/** Loads the branches of a project, because an old list may lack a child or a new protection. @throws {Error} for the agent */
export async function requireFreshBranches(
  { deps: { inventory, agentBranches }, account }: GateCall,
  projectId: string,
): Promise<BranchList> {
  const list = await inventory.branches.refresh(projectId);
  if (list === undefined)
    throw new Error(
      inventory.branches.isOffered
        ? `Couldn't load the branches of ${projectId}. Does the project exist?`
        : "This service doesn't list branches, or this API key doesn't allow it.",
    );
  if (list.failure !== undefined) throw list.failure;
  agentBranches.update({ account, projectId }, list);
  return list;
}

/** @throws {Error} for the agent if the branch isn't in the project */
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

/** Whether an agent may reset, delete and write to a branch without a question. @param list a fresh one */
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
 * Asks before an agent connects to a suspended compute of an account, because that starts it. Call it before each connection.
 * @throws {Error} for the agent if the user doesn't approve
 */
export async function requireStartApproval(
  { deps, connection, agent, signal }: ToolCall<unknown>,
  { projectId, branchId, isOwn }: BranchIds & Pick<GatedBranch, 'isOwn'>,
): Promise<void> {
  if (isOwn || connection.isLocal) return;
  // An old list may show it as active.
  await deps.inventory.refreshComputes(projectId);
  const compute = await findPrimary(deps.inventory, { projectId, branchId });
  if (compute === undefined || ['active', 'disabled'].includes(computeStatus(compute))) return;
  const change = { ...computeNodeOf(compute), kind: 'wake', name: displayName(compute), agent } as const;
  await deps.approve(change, connection, signal);
}
