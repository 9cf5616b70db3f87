/** The tools that read and change branches, except `createBranch`. */
import { findRole } from '../branchLogin.ts';
import { branchTitle, deletionProblem } from '../../inventory/branchStatus.ts';
import { schemaDiff } from '../../schema/compareSchemas.ts';
import { sanitize } from '../../../base/sanitize.ts';
import { clearAgentEnv, rewriteAgentEnv } from './agentEnv.ts';
import { findAgentProject } from './agentProject.ts';
import { changeBranch } from './branchChange.ts';
import { createBranch } from './createBranch.ts';
import { findGatedBranch, isOwnBranch, requireFreshBranches, type GatedBranch } from './gate.ts';
import type { ToolCall, ToolFunction } from './toolCall.ts';

/** Limits what the model has to read. */
const MAX_BRANCHES = 100;
const MAX_DIFF = 20_000;

const listBranches: ToolFunction<'listBranches'> = async (call) => {
  const { projectId, account } = await findAgentProject(call);
  const list = await requireFreshBranches(call.deps, projectId);
  const all = [...list.branches.values()];
  const branches = all.slice(0, MAX_BRANCHES).map((branch) => ({
    branchId: branch.id,
    name: branchTitle(branch.id, branch),
    parentId: branch.parent_id ?? undefined,
    state: sanitize(branch.current_state ?? 'ready'),
    isDefault: branch.default === true,
    isProtected: branch.protected === true,
    isYours: isOwnBranch(call.deps, call, list, { account, projectId, branchId: branch.id }),
    expiresAt: branch.expires_at ?? undefined,
  }));
  return { projectId, branches, branchesLeftOut: all.length - branches.length || undefined };
};

const compareSchema: ToolFunction<'compareSchema'> = async (call) => {
  const { deps, input, signal } = call;
  const found = await findGatedBranch(deps, call, input);
  const { connection, projectId, branchId, branch, list, title } = found;
  const otherId = input.otherBranchId ?? branch.parent_id;
  if (!otherId) throw new Error(`${title} has no parent. Name the other branch.`);
  if (!list.branches.has(otherId)) throw new Error(`${projectId} has no branch ${otherId}.`);
  const { database } = await findRole({ connection, projectId, branchId, database: input.database, signal });
  const [after = '', before = ''] = await Promise.all(
    [branchId, otherId].map((id) => deps.schemas.read({ projectId, branchId: id, database }, { signal })),
  );
  const diff = schemaDiff(before, after);
  const shown = diff.slice(0, MAX_DIFF);
  return {
    database,
    differs: diff !== '',
    diff: shown.toWellFormed(),
    truncated: shown !== diff || undefined,
  };
};

const resetBranch: ToolFunction<'resetBranch'> = async (call) => {
  const { deps, input } = call;
  const found = await findGatedBranch(deps, call, input);
  const { branch, branchId, list, title } = found;
  const parent = branch.parent_id;
  if (!parent) throw new Error(`${title} has no parent, so it can't be reset.`);
  requireUnprotected(found);
  requireChildless(found);
  await passGate(call, found, { kind: 'reset', parent: branchTitle(parent, list.branches.get(parent)) });
  const { isPending } = await changeBranch(call, found.connection, (options) =>
    deps.branchActions.reset(found, parent, options),
  );
  const note = isPending ? undefined : await rewriteAgentEnv(call, found);
  return { branchId, pending: isPending || undefined, note };
};

const deleteBranch: ToolFunction<'deleteBranch'> = async (call) => {
  const { deps, input } = call;
  const found = await findGatedBranch(deps, call, input);
  const { branch, branchId, list, title } = found;
  const problem = deletionProblem(list, branch);
  if (problem?.kind === 'default') throw new Error(`${title} is the default branch, so it can't be deleted.`);
  if (problem?.kind === 'root') throw new Error(`${title} is the root branch, so it can't be deleted.`);
  requireUnprotected(found);
  requireChildless(found);
  await passGate(call, found, { kind: 'delete' });
  const unprotect = false;
  const { isPending } = await changeBranch(call, found.connection, (options) =>
    deps.branchActions.delete(found, { unprotect }, options),
  );
  const note = isPending ? undefined : await clearAgentEnv(call, found);
  await deps.agentBranches.remove(found);
  return { branchId, pending: isPending || undefined, note };
};

export const branchTools = { listBranches, createBranch, compareSchema, resetBranch, deleteBranch };

function requireUnprotected({ branch, title }: GatedBranch): void {
  if (branch.protected === true) throw new Error(`${title} is protected. Only the user can unprotect it.`);
}

function requireChildless({ branchId, list, title }: GatedBranch): void {
  const [child] = list.childrenOf(branchId);
  if (child !== undefined)
    throw new Error(`${title} has child branches, such as ${branchTitle(child.id, child)}.`);
}

/** Asks the user unless the branch is the agent's own. */
async function passGate(
  { deps, agent, signal }: ToolCall<unknown>,
  { isOwn, connection, projectId, branchId, title }: GatedBranch,
  what: { readonly kind: 'reset'; readonly parent: string } | { readonly kind: 'delete' },
): Promise<void> {
  if (!isOwn) await deps.approve({ ...what, projectId, branchId, name: title, agent }, connection, signal);
}
