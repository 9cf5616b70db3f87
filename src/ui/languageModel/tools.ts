/**
 * The tools. VS Code shows the confirmation from `prepare` before a change. `invoke` validates its input again, because it
 * can be called without `prepare`.
 */
import { fieldsOf } from '../../base/fieldsOf.ts';
import {
  l10n,
  LanguageModelTextPart,
  LanguageModelToolResult,
  type CancellationToken,
  type LanguageModelTool,
  type PreparedToolInvocation,
  type ProviderResult,
} from 'vscode';
import { changeEffect } from '../../api/records/effects.ts';
import type { Compute } from '../../api/records/records.ts';
import { sizeProblem, type SizeRange } from '../../api/records/sizes.ts';
import type { AccountConnection } from '../../model/account/accountConnection.ts';
import type { SendResult, SendOptions } from '../../model/operations/changeSender.ts';
import { onlyChanged, type ComputeActions } from '../../model/operations/computeActions.ts';
import { byTypeAndLabel, sizeText } from '../../model/inventory/computeStatus.ts';
import type { Inventory } from '../../model/inventory/inventory.ts';
import { computeNodeOf, type ComputeNode } from '../../model/inventory/nodes.ts';
import { approve } from '../notifications/approval.ts';
import { effectText, suspendText } from '../text/changeText.ts';
import { explainError } from '../text/errorMessage.ts';
import { markdown } from '../text/markdown.ts';
import {
  findComputeOfTool,
  requireToolConnection,
  requireSize,
  sizeOfInput,
  targetOf,
  type Target,
  type ToolDependencies,
} from './toolInput.ts';
import { computeDetails, computeName, computeOutput, projectOutput } from './toolOutput.ts';

interface Tool {
  /** The progress message and the confirmation; undefined for input that `invoke` rejects. */
  prepare(deps: ToolDependencies, input: unknown): ProviderResult<PreparedToolInvocation>;
  /** @returns a value for JSON. @throws {Error} with a message for the model */
  invoke(deps: ToolDependencies, input: unknown, token: CancellationToken): Promise<unknown>;
}

/** Limits what the model has to read. It can name a project to see its computes. */
const MAX_PROJECTS = 20;
const MAX_COMPUTES = 100;

const listComputes: Tool = {
  prepare: () => ({ invocationMessage: l10n.t('Listing computes') }),
  async invoke(deps, input) {
    requireToolConnection(deps);
    const { inventory } = deps;
    // If the service can't be reached, an old list is better than none.
    if (inventory.projects?.isLoaded === true) await inventory.refreshProjects().catch(() => undefined);
    else await inventory.projects?.load();
    const found = matchingProjects(inventory, fieldsOf(input)['project']);
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
  },
};

/** @param query an id or part of a name; anything else matches all projects */
function matchingProjects(inventory: Inventory, query: unknown): string[] {
  const all = [...(inventory.projects?.entries.values() ?? [])];
  if (typeof query !== 'string' || query.trim() === '') return all.map(({ id }) => id);
  const part = query.trim().toLowerCase();
  return all
    .filter(({ id, record }) => id === part || record?.name.toLowerCase().includes(part) === true)
    .map(({ id }) => id);
}

const getCompute: Tool = {
  prepare(_deps, input) {
    const target = targetOf(input);
    return target && { invocationMessage: l10n.t('Reading {0}', target.computeId) };
  },
  invoke: async (deps, input) =>
    computeDetails(deps.inventory, (await findComputeOfTool(deps, input)).compute),
};

/** A change that needs no input but the compute. */
interface ComputeChange {
  readonly progress: (name: string) => string;
  readonly question: (name: string) => string;
  readonly effect: (actions: ComputeActions, target: Target) => string | Promise<string>;
  readonly send: (actions: ComputeActions, node: ComputeNode, options: SendOptions) => Promise<SendResult>;
}

function changeTool({ progress, question, effect, send }: ComputeChange): Tool {
  return {
    async prepare(deps, input) {
      const target = targetOf(input);
      if (target === undefined) return undefined;
      const message = confirmation(deps, target, await effect(deps.computeActions, target));
      const name = targetName(deps, target);
      return { invocationMessage: progress(name), confirmationMessages: { title: question(name), message } };
    },
    async invoke(deps, input, token) {
      const { connection, compute } = await findComputeOfTool(deps, input);
      await approveTool(deps, compute, question(computeName(compute)), connection);
      const result = await cancellable(token, connection, (options) =>
        send(deps.computeActions, computeNodeOf(compute), options),
      );
      return changeOutput(result);
    },
  };
}

const startCompute = changeTool({
  progress: (name) => l10n.t('Starting {0}', name),
  question: (name) => l10n.t('Start {0}?', name),
  effect: () => l10n.t('No connections are interrupted.'),
  send: (actions, node, options) => actions.start(node, options),
});

const suspendCompute = changeTool({
  progress: (name) => l10n.t('Suspending {0}', name),
  question: (name) => l10n.t('Suspend {0}?', name),
  effect: async (actions, target) => {
    const connections = await actions.openConnections(target);
    return connections === 0 ? l10n.t('No connections are interrupted.') : suspendText(connections);
  },
  send: (actions, node, options) => actions.suspend(node, options),
});

const restartCompute = changeTool({
  progress: (name) => l10n.t('Restarting {0}', name),
  question: (name) => l10n.t('Restart {0}?', name),
  effect: () => effectText('restart') ?? '',
  send: (actions, node, options) => actions.restart(node, options),
});

const resizeCompute: Tool = {
  prepare(deps, input) {
    const target = targetOf(input);
    const size = sizeOfInput(input);
    if (target === undefined || size === undefined || sizeProblem(size) !== undefined) return undefined;
    const name = targetName(deps, target);
    return {
      invocationMessage: l10n.t('Changing the size of {0}', name),
      confirmationMessages: {
        title: l10n.t('Change the size of {0} to {1}?', name, sizeText(sizeFields(size))),
        message: confirmation(deps, target, effectText('restart') ?? ''),
      },
    };
  },
  async invoke(deps, input, token) {
    const { connection, compute } = await findComputeOfTool(deps, input);
    const change = onlyChanged(compute, sizeFields(requireSize(input)));
    if (change === undefined) return { changed: false, compute: computeOutput(compute) };
    const size = sizeText(sizeFields(requireSize(input)));
    const question = l10n.t('Change the size of {0} to {1}?', computeName(compute), size);
    await approveTool(deps, compute, question, connection);
    const restarts = changeEffect(compute, change) === 'restart';
    const accepted = await cancellable(token, connection, (options) =>
      deps.computeActions.update(computeNodeOf(compute), change, options),
    );
    return { ...changeOutput(accepted), restarts };
  },
};

export const TOOLS: Readonly<Record<string, Tool>> = {
  hostedPostgres_listComputes: listComputes,
  hostedPostgres_getCompute: getCompute,
  hostedPostgres_restartCompute: restartCompute,
  hostedPostgres_startCompute: startCompute,
  hostedPostgres_suspendCompute: suspendCompute,
  hostedPostgres_resizeCompute: resizeCompute,
};

/** The tool as VS Code calls it. Errors have a message for the model. */
export function languageModelTool(deps: ToolDependencies, name: string): LanguageModelTool<unknown> {
  return {
    prepareInvocation: ({ input }) => TOOLS[name]?.prepare(deps, input),
    async invoke({ input }, token) {
      try {
        const result = await TOOLS[name]?.invoke(deps, input, token);
        // Redacted, in case a record contains a key.
        const text = deps.log.clean(JSON.stringify(result));
        return new LanguageModelToolResult([new LanguageModelTextPart(text)]);
      } catch (error) {
        deps.log.error(`Language model tool ${name}`, error);
        throw new Error(deps.log.clean(explainError(error).message));
      }
    },
  };
}

const sizeFields = ({ min, max }: SizeRange) => ({
  autoscaling_limit_min_cu: min,
  autoscaling_limit_max_cu: max,
});

const targetName = ({ inventory }: ToolDependencies, { projectId, computeId }: Target): string => {
  const compute = inventory.compute(projectId, computeId);
  return compute === undefined ? computeId : computeName(compute);
};

/** In production, asks for the name in addition to VS Code's confirmation. @throws {Error} if the change isn't approved */
async function approveTool(
  { guards }: ToolDependencies,
  compute: Compute,
  question: string,
  initialConnection: AccountConnection,
): Promise<void> {
  const change = { ...computeNodeOf(compute), name: computeName(compute), question, button: '' };
  if (!(await approve(guards, change, initialConnection))) throw new Error(l10n.t('Canceled.'));
}

/** Describes the compute and the effect of the change. */
function confirmation({ inventory }: ToolDependencies, { projectId, computeId }: Target, effect: string) {
  const compute = inventory.compute(projectId, computeId);
  const project = inventory.project(projectId)?.name ?? projectId;
  const size = compute === undefined ? '' : sizeText(compute);
  const parts = [computeId, compute?.branch_id, project, size].filter(
    (part) => part !== undefined && part !== '',
  );
  return markdown`${parts.join(' · ')}\n\n${effect}`;
}

const changeOutput = ({ compute, isPending }: SendResult) => ({
  changed: true,
  /** If true, the operation is still running. The state of the compute shows when it has finished. */
  pending: isPending,
  compute: compute && computeOutput(compute),
});

async function cancellable<T>(
  token: CancellationToken,
  initialConnection: AccountConnection,
  call: (options: SendOptions) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const listener = token.onCancellationRequested(() => controller.abort());
  try {
    return await call({ signal: controller.signal, initialConnection });
  } finally {
    listener.dispose();
  }
}
