/** Finds the branches that an agent in a folder may change. Before each turn of the agent, a marker is set in their history. */
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { parseDatabaseUrl } from '../../api/addresses/databaseUrl.ts';
import { isWithin, readUserText } from '../../base/files.ts';
import { findRepository } from '../../base/git/repository.ts';
import { isSameBranch, type BranchRef } from '../account/refs.ts';
import { getVariable } from '../envFile/dotEnv.ts';
import type { KnownHosts } from '../gitBranch/knownHosts.ts';
import type { AgentBranches } from '../inventory/agentBranches.ts';

/** What the settings say about env files. */
export interface EnvSettings {
  /** Returns the folders that are open. Each may have settings. */
  readonly folders: () => readonly string[];
  /** Returns the path of the env file in the folder, and the variable in it. */
  readonly of: (folder: string) => { readonly file: string; readonly variable: string };
}

interface Sources {
  readonly agentBranches: AgentBranches;
  readonly knownHosts: KnownHosts;
  readonly envSettings: EnvSettings;
}

/** Returns the account's branches that agents have created in the worktree, and those that its env files lead to. */
export async function branchesOfFolder(
  { agentBranches, knownHosts, envSettings }: Sources,
  account: string,
  worktree: string,
): Promise<readonly BranchRef[]> {
  const branches: BranchRef[] = agentBranches.all.filter((branch) => branch.worktree === worktree);
  for (const { folder, file, variable } of await envFilesIn(worktree, envSettings)) {
    const text = await readUserText(path.join(folder, file), folder).catch(() => undefined);
    const host = parseDatabaseUrl(getVariable(text ?? '', variable) ?? '')?.host;
    const known = host === undefined ? undefined : knownHosts.get(host);
    if (known?.isDeleted === false) branches.push(known);
  }
  return branches.filter(
    (branch, index) =>
      branch.account === account && branches.findIndex((other) => isSameBranch(other, branch)) === index,
  );
}

/** Lists the env files of the worktree and of open folders in or around it, or in the same place of another worktree. */
async function envFilesIn(worktree: string, settings: EnvSettings) {
  const repository = await findRepository(worktree);
  const found = [{ folder: worktree, ...settings.of(worktree) }];
  for (const open of settings.folders()) {
    const real = await realpath(open).catch(() => open);
    const other = await findRepository(real);
    const isSame = other !== undefined && other.commonDir === repository?.commonDir;
    const folder = isSame ? path.join(worktree, path.relative(other.worktree, real)) : real;
    if (isWithin(worktree, folder) || isWithin(folder, worktree))
      found.push({ folder, ...settings.of(open) });
  }
  return found;
}
