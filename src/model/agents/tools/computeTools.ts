/** The tools that read and change computes. */
import { changeEffect } from '../../../api/records/effects.ts';
import { accountId } from '../../account/accounts.ts';
import type { ToolOutput } from '../toolSchemas.ts';
import { byTypeAndLabel } from '../../inventory/computeStatus.ts';
import type { Inventory } from '../../inventory/inventory.ts';
import { computeNodeOf, type ComputeNode } from '../../inventory/nodes.ts';
import type { SendOptions, SendResult } from '../../operations/changeSender.ts';
import { onlyChanged, type ComputeActions } from '../../operations/computeActions.ts';
import { computeDetails, computeName, computeOutput, projectOutput } from './computeOutput.ts';
import { findGatedBranch } from './gate.ts';
import {
  findComputeOfTool,
  requireToolConnection,
  type ComputeChange,
  type ComputeIds,
  type ToolCall,
  type ToolFunction,
} from './toolCall.ts';

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
      problem: failure === undefined ? undefined : deps.explain(failure),
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

const startCompute: ToolFunction<'startCompute'> = (call) =>
  changeCompute(
    call,
    () => ({ kind: 'start' }),
    (actions, node, options) => actions.start(node, options),
  );

const suspendCompute: ToolFunction<'suspendCompute'> = (call) =>
  changeCompute(
    call,
    async (actions, node) => ({ kind: 'suspend', connections: await actions.openConnections(node) }),
    (actions, node, options) => actions.suspend(node, options),
  );

const restartCompute: ToolFunction<'restartCompute'> = (call) =>
  changeCompute(
    call,
    () => ({ kind: 'restart' }),
    (actions, node, options) => actions.restart(node, options),
  );

const resizeCompute: ToolFunction<'resizeCompute'> = async (call) => {
  const { minCu, maxCu = minCu } = call.input;
  const size = { autoscaling_limit_min_cu: minCu, autoscaling_limit_max_cu: maxCu };
  const { compute } = await findComputeOfTool(call.deps, call.input);
  const change = onlyChanged(compute, size);
  if (change === undefined) return { changed: false, ...computeOutput(compute) };
  const result = await changeCompute(
    call,
    () => ({ kind: 'resize', size }),
    (actions, node, options) => actions.update(node, change, options),
  );
  return { ...result, restarts: changeEffect(compute, change) === 'restart' };
};

export const computeTools = {
  listComputes,
  getCompute,
  startCompute,
  suspendCompute,
  restartCompute,
  resizeCompute,
};

/** Asks the user first, unless the branch is the agent's own. @throws {Error} for the agent if the user doesn't approve */
async function changeCompute(
  call: ToolCall<ComputeIds>,
  describe: (actions: ComputeActions, node: ComputeNode) => ComputeChange | Promise<ComputeChange>,
  send: Send,
): Promise<ToolOutput<'restartCompute'>> {
  const { deps, agent, signal } = call;
  const { connection, compute } = await findComputeOfTool(deps, call.input);
  const node = computeNodeOf(compute);
  const branch = { ...node, account: accountId(connection.account) };
  const isOwn =
    deps.agentBranches.isMadeBy(branch, call) && (await findGatedBranch(deps, call, branch)).isOwn;
  if (!isOwn) {
    const what = await describe(deps.computeActions, node);
    await deps.approve({ ...node, ...what, name: computeName(compute), agent }, connection, signal);
  }
  return changeOutput(await send(deps.computeActions, node, { signal, initialConnection: connection }));
}

const changeOutput = ({ compute, isPending }: SendResult) => ({
  changed: true,
  pending: isPending,
  ...(compute && computeOutput(compute)),
});
