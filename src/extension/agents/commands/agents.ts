/** The commands Agents… and Delete Agent Branches… */
import { l10n, ThemeIcon } from 'vscode';
import type { AgentBranch, AgentCall } from '../../inventory/agentBranches.ts';
import type { BranchList } from '../../inventory/branchLists.ts';
import { deletionProblem } from '../../inventory/branchStatus.ts';
import type { BranchNode } from '../../inventory/nodes.ts';
import {
  agentBranchName,
  agentBranchText,
  agentName,
  agentCallText,
  lastCallText,
} from '../../inventory/ui/agentText.ts';
import { sanitize } from '../../../base/sanitize.ts';
import { timeAgo } from '../../window/ui/timeText.ts';
import { window } from '../../window/ui/window.ts';
import {
  deleteBranches,
  loadBranchLists,
  type DeletableBranch,
} from '../../branches/commands/deleteBranches.ts';
import { revealRow } from '../../commandSupport/change.ts';
import type { Command, CommandContext } from '../../commandSupport/context.ts';
import { isProjectGone } from '../../gitBranch/findBranchUrl.ts';
import { singleStep } from '../../window/ui/input/multiStepInput.ts';
import { pickMany, pickOne, listSeparator, type Choice } from '../../window/ui/input/quickInput.ts';
import { executeCommand } from '../../window/ui/executeCommand.ts';
import type { CommandId } from '../../commandTable/commandTable.ts';

interface Action {
  readonly id: string;
  readonly run: () => unknown;
}

type Item = Choice<Action>;

/** The most calls in the list. The log has the earlier ones. */
const MAX_CALLS = 20;

/** Returns the branches of agents in the connected account, the newest first. */
const branchesOfAccount = ({ agentBranches, session }: CommandContext): readonly AgentBranch[] =>
  agentBranches.ofAccount(session.connection).toReversed();

/** Lists the branches and the last calls. A branch that is picked is shown in the Computes view. */
export async function showAgents(context: CommandContext): Promise<void> {
  const placeholder = l10n.t('Connect an agent, or see what agents have done');
  const items = async (show: (known: readonly Item[]) => void) => {
    show(itemsOf(context));
    // If the refresh fails, the list shows the branches as they were recorded when they were created.
    await refreshBranches(context).catch((error: unknown) =>
      context.log.error('Loading branches of agents', error),
    );
    return itemsOf(context);
  };
  const idOf = ({ id }: Action) => id;
  const action = await singleStep(l10n.t('Agents'), pickOne({ placeholder, items, idOf }));
  await action?.run();
}

function itemsOf(context: CommandContext): readonly Item[] {
  const branches = branchesOfAccount(context);
  const calls = context.agentBranches.calls.toReversed();
  return [
    ...branches.map((branch) => branchItem(context, branch, calls)),
    ...(calls.length === 0 ? [] : [listSeparator(l10n.t('Last calls'))]),
    ...calls.slice(0, MAX_CALLS).map((call) => callItem(call, branches)),
    listSeparator(),
    ...(branches.length === 0
      ? []
      : [commandItem(l10n.t('Delete Agent Branches…'), 'trash', 'hostedPostgres.agents.deleteBranches')]),
    commandItem(l10n.t('Copy MCP Configuration for…'), 'copy', 'hostedPostgres.agents.copyConfiguration'),
    commandItem(l10n.t('Copy Agent Instructions'), 'copy', 'hostedPostgres.agents.copyInstructions'),
  ];
}

function branchItem(context: CommandContext, branch: AgentBranch, calls: readonly AgentCall[]): Item {
  const { projectId, branchId } = branch;
  const node: BranchNode = { kind: 'branch', projectId, branchId };
  const last = calls.find((call) => call.branchId === branchId);
  return {
    label: agentBranchName(branch),
    iconPath: new ThemeIcon('git-branch'),
    description: agentBranchText(branch),
    ...(last === undefined ? {} : { detail: lastCallText(last) }),
    value: { id: branchId, run: () => revealRow(context, node) },
  };
}

function callItem(call: AgentCall, branches: readonly AgentBranch[]): Item {
  const branch = branches.find(({ branchId }) => branchId === call.branchId);
  const name = branch === undefined ? [] : [agentBranchName(branch)];
  const description = [agentName(call.agent), ...name, timeAgo(call.time)].join(' · ');
  return {
    label: agentCallText(call),
    iconPath: new ThemeIcon(call.failure === undefined ? 'check' : 'circle-slash'),
    description,
    ...(call.failure === undefined ? {} : { detail: l10n.t('Failed: {0}', sanitize(call.failure)) }),
    value: undefined,
  };
}

const commandItem = (label: string, icon: string, id: CommandId): Item => ({
  label,
  iconPath: new ThemeIcon(icon),
  value: { id, run: () => executeCommand(id) },
});

export const deleteAgentBranches: Command = async (context, _argument, run) => {
  run.failureMessage = l10n.t("Couldn't delete the branches of agents");
  context.session.requireConnection();
  const load = async () => (await loadDeletable(context)).map((branch) => deletableBranch(context, branch));
  const found = await loadDeletable(context);
  if (found.length === 0)
    return void window.showInformationMessage(l10n.t('There are no branches of agents to delete.'));
  const placeholder = l10n.t('Select the branches to delete. Agents have created them.');
  const items = found.map((branch) => ({
    label: agentBranchName(branch),
    description: agentBranchText(branch),
    value: deletableBranch(context, branch),
  }));
  const chosen = await singleStep(l10n.t('Delete Agent Branches'), pickMany(placeholder, items));
  if (chosen === undefined || chosen.length === 0) return;
  await deleteBranches(context, run, chosen, load);
};

const deletableBranch = ({ agentBranches }: CommandContext, branch: AgentBranch): DeletableBranch => ({
  ref: branch,
  title: agentBranchName(branch),
  forget: async () => agentBranches.remove(branch),
});

/**
 * Loads the branches that can be deleted. One that the user has made the default, protected, marked or given children is no longer
 * the agent's.
 */
async function loadDeletable(context: CommandContext): Promise<readonly AgentBranch[]> {
  const lists = await refreshBranches(context);
  return branchesOfAccount(context).filter((branch) => {
    const list = lists.get(branch.projectId);
    const record = list?.branches.get(branch.branchId);
    if (list === undefined || record === undefined || record.protected === true) return false;
    return deletionProblem(list, record) === undefined && context.guards.cachedMark(branch) === undefined;
  });
}

/** Forgets branches that are gone. @throws {Error} if a list can't be loaded */
async function refreshBranches(context: CommandContext): Promise<ReadonlyMap<string, BranchList>> {
  const projectIds = branchesOfAccount(context).map(({ projectId }) => projectId);
  const gone = { branches: new Map(), requestedAt: Date.now() };
  const lists = await loadBranchLists(context, projectIds);
  for (const { account, projectId } of branchesOfAccount(context)) {
    const list = lists.get(projectId);
    if (list !== undefined || (await isProjectGone(context.inventory, projectId)))
      context.agentBranches.update({ account, projectId }, list ?? gone);
  }
  return lists;
}
