/**
 * What an agent in the editor can use: tools that see what the sidebar shows. The manifest describes them to the model;
 * they are loaded when one is first used.
 */
import { lm, type LanguageModelTool } from 'vscode';
import { DisposableStore, type Disposable } from '../../base/disposable.ts';
import { TOOL_NAMES, type ToolName, type ToolParts } from './parts.ts';

export function registerTools(loadParts: () => Promise<ToolParts>): Disposable {
  const disposables = new DisposableStore();
  // Some editors built on VS Code come without language models.
  const languageModels: Partial<typeof lm> | undefined = lm;
  if (languageModels?.registerTool === undefined) return disposables;
  for (const name of TOOL_NAMES) disposables.add(languageModels.registerTool(name, toolOf(loadParts, name)));
  return disposables;
}

function toolOf(loadParts: () => Promise<ToolParts>, name: ToolName): LanguageModelTool<unknown> {
  const load = () => import('./useTool.ts');
  return {
    prepareInvocation: async ({ input }) => (await load()).prepareTool(await loadParts(), name, input),
    invoke: async ({ input }, token) => (await load()).useTool(await loadParts(), name, input, token),
  };
}
