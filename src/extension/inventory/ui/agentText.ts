/** Texts about what agents have created and called. */
import path from 'node:path';
import { l10n } from 'vscode';
import { UNNAMED_AGENT, type AgentBranch, type AgentCall } from '../agentBranches.ts';
import { nameOrId, sanitize } from '../../../base/sanitize.ts';
import { timeAgo, timeAhead } from '../../window/ui/timeText.ts';

/** Returns the name of an agent as the user sees it. Agents choose it themselves. */
export const agentName = (agent: string): string =>
  agent === UNNAMED_AGENT ? l10n.t('An agent') : sanitize(agent, 40);

export const agentBranchName = ({ name, branchId }: AgentBranch): string => nameOrId(name, branchId);

/** Returns text such as `by claude-code in task-1 · expires in 23 hours`. */
export function agentBranchText({ agent, worktree, expiresAt }: AgentBranch): string {
  const by =
    worktree === undefined
      ? l10n.t('by {0}', agentName(agent))
      : l10n.t('by {0} in {1}', agentName(agent), sanitize(path.basename(worktree)));
  return `${by} · ${l10n.t('expires {0}', timeAhead(expiresAt))}`;
}

/** Returns text such as `runSql: SELECT 1`. */
export const agentCallText = ({ tool, text }: AgentCall): string =>
  sanitize(text === '' ? tool : `${tool}: ${text}`, 120);

/** Returns text such as `runSql: SELECT 1 · 3 minutes ago`. */
export const lastCallText = (call: AgentCall): string => `${agentCallText(call)} · ${timeAgo(call.time)}`;
