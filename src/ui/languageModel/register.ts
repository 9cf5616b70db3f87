/**
 * Tools for agents in the editor: they see what the sidebar shows. package.json describes them to the model; their code
 * is loaded on first use.
 */
import { lm, type LanguageModelTool } from 'vscode';
import { DisposableStore, type Disposable } from '../../base/disposable.ts';
import type { ToolParts } from './toolInput.ts';

/** @param tools `languageModelTools` of package.json */
export function registerTools(
  tools: readonly { readonly name: string }[],
  loadParts: () => Promise<ToolParts>,
): Disposable {
  const disposables = new DisposableStore();
  // Some editors based on VS Code have no language models.
  const languageModels: Partial<typeof lm> | undefined = lm;
  if (languageModels?.registerTool === undefined) return disposables;
  for (const { name } of tools) disposables.add(languageModels.registerTool(name, lazyTool(name, loadParts)));
  return disposables;
}

function lazyTool(name: string, loadParts: () => Promise<ToolParts>): LanguageModelTool<unknown> {
  const load = () => import('./tools.ts');
  return {
    prepareInvocation: async ({ input }) => (await load()).prepareTool(await loadParts(), name, input),
    invoke: async ({ input }, token) => (await load()).invokeTool(await loadParts(), name, input, token),
  };
}
