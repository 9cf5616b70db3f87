/** Writes the URL of an agent's branch to the env file that the agent has named, when the branch is created, reset or deleted. */
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { envPlacesOf, type EnvPlace } from '../../inventory/agentBranches.ts';
import { prepareAgentEnv, type AgentEnvFile } from '../agentEnvFile.ts';
import { parseDatabaseUrl } from '../../../api/addresses/databaseUrl.ts';
import { findBranchUrl } from '../../gitBranch/findBranchUrl.ts';
import type { ReplacedVariable } from '../../gitBranch/formerTls.ts';
import { renewOwnPasswords } from './ownPasswords.ts';
import { joinNotes } from './tool.ts';
import type { ToolCall } from './toolCall.ts';
import { isSameBranch, type BranchRef } from '../../account/refs.ts';

/**
 * Checks that the env file that the agent has named can be written.
 * @returns undefined if the agent names no file.
 * @throws {Error} with a message for the agent if the file can't be written
 */
export async function prepareNamedEnv(
  { deps, account, connection, folder }: ToolCall<unknown>,
  {
    envFile,
    envVariable: variable = 'DATABASE_URL',
  }: { readonly envFile?: string | undefined; readonly envVariable?: string | undefined },
): Promise<AgentEnvFile | undefined> {
  if (envFile === undefined) return undefined;
  deps.requireTrust();
  if (folder === undefined) throw new Error("The agent's folder isn't known, so no env file is written.");
  const { inventory, knownHosts, agentBranches, runGit } = deps;
  const isReplaceable = async (host: string) => {
    // Another branch, even of another project, may have the host by now: the local service gives freed ports to new computes.
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

/** Notes where the URL of the branch is, next to where it was written before. */
export function noteEnvPlace({ deps }: ToolCall<unknown>, ref: BranchRef, place: EnvPlace): void {
  deps.agentBranches.edit(ref, (branch) => {
    const others = envPlacesOf(branch).filter((each) => !isDeepStrictEqual(each, place));
    return { envPlaces: [...others, place] };
  });
}

const NEW_PASSWORDS_LATER =
  "The branch gets its parent's passwords. Once it is ready, call createBranch with its name and the env file, which gives it new ones.";

/**
 * Renews the passwords of the agent's roles after a reset, which may bring back those of the parent, and writes the URL with the
 * new ones.
 * @param reset the result of the reset. While it is pending, no password can be renewed
 * @returns a note for the agent if something couldn't be done
 */
export async function renewAgentLogin(
  call: ToolCall<unknown>,
  ref: BranchRef,
  reset: { readonly pending?: boolean | undefined },
): Promise<string | undefined> {
  const { deps } = call;
  if (deps.agentBranches.find(ref) === undefined) return undefined;
  if (reset.pending === true) return NEW_PASSWORDS_LATER;
  try {
    await renewOwnPasswords(call, ref);
  } catch (error) {
    return `Couldn't give the branch new passwords: ${deps.explain(error)}`;
  }
  return await updateAgentEnv(
    call,
    ref,
    async (before) => (await findBranchUrl(deps, ref, before)).value ?? before.value,
  );
}

/**
 * Empties the variable after a deletion, so that no program uses the dead URL.
 * @returns a note for the agent if the env file couldn't be updated
 */
export const clearAgentEnv = (call: ToolCall<unknown>, ref: BranchRef): Promise<string | undefined> =>
  updateAgentEnv(call, ref, async () => '');

/** Returns a note for the agent about each file that couldn't be updated. */
async function updateAgentEnv(
  call: ToolCall<unknown>,
  ref: BranchRef,
  valueAfter: (before: ReplacedVariable) => Promise<string>,
): Promise<string | undefined> {
  const { deps } = call;
  const branch = deps.agentBranches.find(ref);
  if (branch?.worktree === undefined) return undefined;
  const problems: string[] = [];
  for (const place of envPlacesOf(branch)) {
    try {
      const env = await prepareNamedEnv({ ...call, folder: branch.worktree }, place);
      const known = deps.knownHosts.get(parseDatabaseUrl(env?.value ?? '')?.host ?? '');
      // By now, the file may have the URL of another branch.
      if (env === undefined || known === undefined || !isSameBranch(known, ref)) continue;
      const value = await valueAfter({ name: env.variable, value: env.value });
      if (value !== env.value) await env.write(value);
    } catch (error) {
      problems.push(`Couldn't update ${path.basename(place.envFile)}: ${deps.explain(error)}`);
    }
  }
  return joinNotes(...problems);
}
