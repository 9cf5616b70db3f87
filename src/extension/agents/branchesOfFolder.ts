/** Finds the branches that an agent in a folder may change. Before each turn of the agent, a marker is set in their history. */
import path from 'node:path';
import { parseDatabaseUrl } from '../../api/addresses/databaseUrl.ts';
import { readUserText } from '../../base/files.ts';
import { isSameBranch, type BranchRef } from '../account/refs.ts';
import { getVariable } from '../envFile/dotEnv.ts';
import type { KnownHosts } from '../gitBranch/knownHosts.ts';
import type { AgentBranches } from '../inventory/agentBranches.ts';

const ENV_FILES = ['.env', '.env.local'];

interface Sources {
  readonly agentBranches: AgentBranches;
  readonly knownHosts: KnownHosts;
}

/** Returns the account's branches that agents have created in the worktree, and those that its env files lead to. */
export async function branchesOfFolder(
  { agentBranches, knownHosts }: Sources,
  account: string,
  worktree: string,
): Promise<readonly BranchRef[]> {
  const branches: BranchRef[] = agentBranches.all.filter((branch) => branch.worktree === worktree);
  for (const name of ENV_FILES) {
    const text = await readUserText(path.join(worktree, name), worktree).catch(() => undefined);
    const host = parseDatabaseUrl(getVariable(text ?? '', 'DATABASE_URL') ?? '')?.host;
    const known = host === undefined ? undefined : knownHosts.get(host);
    if (known?.isDeleted === false) branches.push(known);
  }
  return branches.filter(
    (branch, index) =>
      branch.account === account && branches.findIndex((other) => isSameBranch(other, branch)) === index,
  );
}
