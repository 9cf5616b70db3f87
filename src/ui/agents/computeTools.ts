/** The tools that read and change computes. */
import { l10n } from 'vscode';
import { changeEffect } from '../../api/records/effects.ts';
import type { Compute } from '../../api/records/records.ts';
import { accountId } from '../../model/account/accounts.ts';
import type { AccountConnection } from '../../model/account/accountConnection.ts';
import type { ToolInput } from '../../model/agents/toolSchemas.ts';
import { byTypeAndLabel } from '../../model/inventory/computeStatus.ts';
import type { Inventory } from '../../model/inventory/inventory.ts';
import { computeNodeOf, type ComputeNode } from '../../model/inventory/nodes.ts';
import type { SendOptions, SendResult } from '../../model/operations/changeSender.ts';
import { onlyChanged, type ComputeActions } from '../../model/operations/computeActions.ts';
import { explainError } from '../text/errorMessage.ts';
import { computeDetails, computeName, computeOutput, projectOutput } from './computeOutput.ts';
import {
  computeQuestions,
  sizeFields,
  sizeOfInput,
  type ComputeChangeName,
  type ComputeQuestion,
} from './computeQuestions.ts';
import { agentName, approveForAgent, findGatedBranch } from './gate.ts';
import { findComputeOfTool, requireToolConnection, type ToolCall, type ToolFunction } from './toolCall.ts';

/** Limits what the model has to read. It can name a project to see its computes. */
const MAX_PROJECTS = 20;
const MAX_COMPUTES = 100;

const listComputes: ToolFunction<'listComputes'> = async ({ deps, input }) => {
  requireToolConnection(deps);
  const { inventory } = deps;
  // If the service can't be reached, an old list is better than none.
  if (inventory.projects?.isLoaded === true) await inventory.refreshProjects().catch(() => undefined);
  else await inventory.projects?.load();
  const found = matchingProjects(inventory, input.project);
  const listed = found.slice(0, MAX_PROJECTS);
  // The result contains the failure of each project.
  await inventory.refreshComputesOf(listed).catch(() => undefined);
  let remaining = MAX_COMPUTES;
  const projects = listed.map((id) => {
    const all = [...(inventory.computesOf(id)?.computes.values() ?? [])].sort(byTypeAndLabel);
    const computes = all.slice(0, remaining).map(computeOutput);
    remaining -= computes.length;
    const failure = inventory.computesOf(id)?.failure;
    return {
      ...projectOutput(inventory, id),
      computes,
      computesLeftOut: all.length - computes.length || undefined,
      problem: failure === undefined ? undefined : explainError(failure).message,
    };
  });
  return { projects, projectsLeftOut: found.length - listed.length || undefined };
};

/** @param query an id or part of a name; without it, all projects match */
function matchingProjects(inventory: Inventory, query = ''): string[] {
  const part = query.trim().toLowerCase();
  return [...(inventory.projects?.entries.values() ?? [])]
    .filter(
      ({ id, record }) => part === '' || id === part || record?.name.toLowerCase().includes(part) === true,
    )
    .map(({ id }) => id);
}

const getCompute: ToolFunction<'getCompute'> = async ({ deps, input }) =>
  computeDetails(deps.inventory, (await findComputeOfTool(deps, input)).compute);

type Send = (actions: ComputeActions, node: ComputeNode, options: SendOptions) => Promise<SendResult>;

/** A change that needs no input but the compute. */
function changeTool(
  name: Exclude<ComputeChangeName, 'resizeCompute'>,
  send: Send,
): ToolFunction<Exclude<ComputeChangeName, 'resizeCompute'>> {
  return async (call) => {
    const { connection, compute } = await findComputeOfTool(call.deps, call.input);
    await approveTool(call, compute, computeQuestions[name], connection);
    const options = { signal: call.signal, initialConnection: connection };
    return changeOutput(await send(call.deps.computeActions, computeNodeOf(compute), options));
  };
}

const resizeCompute: ToolFunction<'resizeCompute'> = async (call) => {
  const { deps, input, signal } = call;
  const { connection, compute } = await findComputeOfTool(deps, input);
  const change = onlyChanged(compute, sizeFields(sizeOfInput(input)));
  if (change === undefined) return { changed: false, ...computeOutput(compute) };
  await approveTool(call, compute, computeQuestions.resizeCompute, connection);
  const restarts = changeEffect(compute, change) === 'restart';
  const options = { signal, initialConnection: connection };
  const result = await deps.computeActions.update(computeNodeOf(compute), change, options);
  return { ...changeOutput(result), restarts };
};

export const computeTools = {
  listComputes,
  getCompute,
  startCompute: changeTool('startCompute', (actions, node, options) => actions.start(node, options)),
  suspendCompute: changeTool('suspendCompute', (actions, node, options) => actions.suspend(node, options)),
  restartCompute: changeTool('restartCompute', (actions, node, options) => actions.restart(node, options)),
  resizeCompute,
};

/**
 * Asks for nothing on a branch of the agent, and in production for the name even if VS Code has asked before.
 * @throws {Error} if the change isn't approved
 */
async function approveTool<N extends ComputeChangeName>(
  call: ToolCall<ToolInput<N>>,
  compute: Compute,
  { title, detail, button }: ComputeQuestion<N>,
  connection: AccountConnection,
): Promise<void> {
  const { deps, input, agent, isConfirmed, signal } = call;
  const node = computeNodeOf(compute);
  const branch = { ...node, account: accountId(connection.account) };
  const isOwn =
    deps.agentBranches.isMadeBy(branch, call) && (await findGatedBranch(deps, call, branch)).isOwn;
  if (isOwn) return;
  const name = computeName(compute);
  const change = {
    ...node,
    name,
    question: title(name, input),
    button,
    detail: isConfirmed
      ? undefined
      : l10n.t('{0} asks for this. {1}', agentName(agent), await detail(deps.computeActions, node)),
  };
  await approveForAgent(deps, change, connection, signal);
}

const changeOutput = ({ compute, isPending }: SendResult) => ({
  changed: true,
  pending: isPending,
  ...(compute && computeOutput(compute)),
});
