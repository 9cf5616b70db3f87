/**
 * A new branch has the passwords of its parent, and so may one that was reset. With one of them, an agent could log in to the parent. So
 * roles of an agent's branch get new passwords before the agent gets a password.
 */
import { renewBranchPasswords } from '../../connection/renewPasswords.ts';
import { changeBranch } from './branchChange.ts';
import type { ToolCall } from './toolCall.ts';
import type { BranchRef } from '../../account/refs.ts';

/**
 * Renews the passwords of the branch, unless that was done since the branch was last reset.
 * @param role the role whose password the agent gets @throws {ApiError} @throws {Error} with a message for the agent
 */
export async function ensureOwnPasswords(
  call: ToolCall<unknown>,
  ref: BranchRef,
  role: string,
): Promise<void> {
  const { deps } = call;
  const { ownPasswords } = deps.agentBranches.find(ref) ?? {};
  const isSame = ownPasswords?.lastReset === timeOfLastReset(call, ref);
  if (!isSame || ownPasswords?.roles.includes(role) !== true) await renewOwnPasswords(call, ref);
  if (deps.agentBranches.find(ref)?.ownPasswords?.roles.includes(role) !== true)
    throw new Error(`The service doesn't give ${role} its own password, so the URL isn't returned.`);
}

/** Renews the passwords of the branch, and notes for which roles. @throws {ApiError} @throws {Error} with a message for the agent */
export async function renewOwnPasswords(call: ToolCall<unknown>, ref: BranchRef): Promise<void> {
  const { deps, connection, signal } = call;
  const { projectId, branchId } = ref;
  const client = await connection.client();
  const options = { signal: AbortSignal.any([connection.signal, signal]) };
  const listed = (await client.listRoles(projectId, branchId, options)) ?? [];
  const record = deps.inventory.branches.get(projectId, branchId);
  const branch = { projectId, branchId, record, roles: listed };
  const { renewed } = await renewBranchPasswords(deps, branch, async (send) => changeBranch(call, send));
  const ownPasswords = { roles: renewed, lastReset: timeOfLastReset(call, ref) };
  deps.agentBranches.edit(ref, () => ({ ownPasswords }));
}

const timeOfLastReset = (
  { deps }: ToolCall<unknown>,
  { projectId, branchId }: BranchRef,
): string | undefined => deps.inventory.branches.get(projectId, branchId)?.last_reset_at ?? undefined;
