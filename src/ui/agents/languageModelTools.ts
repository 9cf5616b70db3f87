/** The tools as VS Code's chat calls them. The chat shows the question before a change, and waits for the user. */
import {
  LanguageModelTextPart,
  LanguageModelToolResult,
  workspace,
  type CancellationToken,
  type LanguageModelTool,
  type PreparedToolInvocation,
} from 'vscode';
import { TOOL_SCHEMAS } from '../../model/agents/toolSchemas.ts';
import { sizeText } from '../../model/inventory/computeStatus.ts';
import { markdown } from '../text/markdown.ts';
import { computeName } from './computeOutput.ts';
import { computeQuestions, type ComputeChangeName } from './computeQuestions.ts';
import { runTool } from './runTool.ts';
import type { ComputeIds, ToolDependencies } from './toolCall.ts';

/** @param name as in package.json, such as `hostedPostgres_listComputes` */
export function languageModelTool(deps: ToolDependencies, name: string): LanguageModelTool<unknown> {
  const tool = name.replace('hostedPostgres_', '');
  return {
    prepareInvocation: ({ input }) => (isComputeChange(tool) ? prepare(deps, tool, input) : undefined),
    async invoke({ input }, token) {
      const { signal, dispose } = signalOf(token);
      const folder = workspace.workspaceFolders?.[0]?.uri.fsPath;
      try {
        const caller = { agent: 'VS Code', folder, signal, isConfirmed: true };
        const output = await runTool(deps, tool, input, caller);
        return new LanguageModelToolResult([new LanguageModelTextPart(JSON.stringify(output))]);
      } finally {
        dispose();
      }
    },
  };
}

const isComputeChange = (name: string): name is ComputeChangeName => Object.hasOwn(computeQuestions, name);

/** @returns the confirmation; undefined for input that `runTool` rejects */
async function prepare<N extends ComputeChangeName>(
  deps: ToolDependencies,
  name: N,
  input: unknown,
): Promise<PreparedToolInvocation | undefined> {
  const parsed = TOOL_SCHEMAS[name].input.safeParse(input);
  if (parsed.error !== undefined) return undefined;
  const { title, detail } = computeQuestions[name];
  const compute = deps.inventory.compute(parsed.data.projectId, parsed.data.computeId);
  const label = compute === undefined ? parsed.data.computeId : computeName(compute);
  const effect = await detail(deps.computeActions, parsed.data);
  const message = confirmation(deps, parsed.data, effect);
  return { confirmationMessages: { title: title(label, parsed.data), message } };
}

/** Describes the compute and the effect of the change. */
function confirmation({ inventory }: ToolDependencies, { projectId, computeId }: ComputeIds, effect: string) {
  const compute = inventory.compute(projectId, computeId);
  const project = inventory.project(projectId)?.name ?? projectId;
  const size = compute === undefined ? '' : sizeText(compute);
  const parts = [computeId, compute?.branch_id, project, size].filter(
    (part) => part !== undefined && part !== '',
  );
  return markdown`${parts.join(' · ')}\n\n${effect}`;
}

function signalOf(token: CancellationToken) {
  const controller = new AbortController();
  const listener = token.onCancellationRequested(() => controller.abort());
  return { signal: controller.signal, dispose: () => void listener.dispose() };
}
