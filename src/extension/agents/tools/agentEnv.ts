/** Writes the URL of an agent's branch to the env file that the agent has named, when the branch is created, reset or deleted. */
import path from 'node:path';
import type { AgentBranch } from '../../inventory/agentBranches.ts';
import { prepareAgentEnv, type AgentEnvFile } from '../agentEnvFile.ts';
import { parseDatabaseUrl } from '../../../api/addresses/databaseUrl.ts';
import { findBranchUrl } from '../../gitBranch/findBranchUrl.ts';
import { renewOwnPasswords } from './ownPasswords.ts';
import type { ToolCall } from './toolCall.ts';
import { isSameBranch, type BranchRef } from '../../account/refs.ts';

/** @returns undefined if the agent names no file. @throws {Error} for the agent if the file can't be written */
export async function prepareNamedEnv(
  { deps, account, connection, folder }: ToolCall<unknown>,
  { envFile, envVariable: variable = 'DATABASE_URL' }: Pick<AgentBranch, 'envFile' | 'envVariable'>,
): Promise<AgentEnvFile | undefined> {
  if (envFile === undefined) return undefined;
  deps.requireTrust();
  if (folder === undefined) throw new Error("The agent's folder isn't known, so no env file is written.");
  const { inventory, knownHosts, agentBranches, runGit } = deps;
  const isReplaceable = async (host: string) => {
    // Another branch, even of another project, may have the host by now: the local service gives ports to new computes.
    if (connection.isLocal) {
      await inventory.refreshProjects();
      await inventory.refreshComputesOf([...(inventory.projects?.entries.keys() ?? [])]);
    }
    await knownHosts.refresh(inventory, account, [host]);
    const known = knownHosts.get(host);
    return known !== undefined && agentBranches.wasMadeByAgent(known);
  };
  return await prepareAgentEnv({ folder, file: envFile, variable, runGit, isReplaceable });
}

/**
 * Writes the URL again after a reset, which may bring the passwords of the parent.
 * @returns a note for the agent if not all could be done
 */
export async function rewriteAgentEnv(call: ToolCall<unknown>, ref: BranchRef): Promise<string | undefined> {
  const { deps } = call;
  if (deps.agentBranches.find(ref) === undefined) return undefined;
  try {
    await renewOwnPasswords(call, ref);
  } catch (error) {
    return `Couldn't give the branch new passwords: ${deps.explain(error)}`;
  }
  return await updateAgentEnv(
    call,
    ref,
    async (before) => (await findBranchUrl(deps, ref, before)).value ?? before,
  );
}

/**
 * Empties the variable after a deletion, so that no program uses the dead URL.
 * @returns a note for the agent if the env file couldn't be updated
 */
export const clearAgentEnv = (call: ToolCall<unknown>, ref: BranchRef): Promise<string | undefined> =>
  updateAgentEnv(call, ref, async () => '');

async function updateAgentEnv(
  call: ToolCall<unknown>,
  ref: BranchRef,
  valueAfter: (before: string) => Promise<string>,
): Promise<string | undefined> {
  const { deps } = call;
  const { worktree: folder, envFile, envVariable } = deps.agentBranches.find(ref) ?? {};
  if (folder === undefined || envFile === undefined) return undefined;
  try {
    const env = await prepareNamedEnv({ ...call, folder }, { envFile, envVariable });
    const known = deps.knownHosts.get(parseDatabaseUrl(env?.value ?? '')?.host ?? '');
    // The file may have another branch by now.
    if (env === undefined || known === undefined || !isSameBranch(known, ref)) return undefined;
    const value = await valueAfter(env.value);
    if (value !== env.value) await env.write(value);
    return undefined;
  } catch (error) {
    return `Couldn't update ${path.basename(envFile)}: ${deps.explain(error)}`;
  }
}
