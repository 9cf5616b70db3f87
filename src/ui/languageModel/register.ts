/**
 * What an agent in the editor can use: tools that see what the sidebar shows. The manifest describes them to the model;
 * they are loaded when one is first used.
 */
import { LanguageModelTextPart, LanguageModelToolResult, lm, type LanguageModelTool } from 'vscode';
import { DisposableStore, type Disposable } from '../../base/disposable.ts';
import { explain } from '../fault.ts';
import { TOOL_NAMES, type ToolName, type ToolParts } from './parts.ts';

export function registerTools(parts: ToolParts): Disposable {
  const held = new DisposableStore();
  // Some editors built on VS Code come without language models.
  const languageModels: Partial<typeof lm> | undefined = lm;
  if (languageModels?.registerTool === undefined) return held;
  for (const name of TOOL_NAMES) held.add(languageModels.registerTool(name, toolOf(parts, name)));
  return held;
}

function toolOf(parts: ToolParts, name: ToolName): LanguageModelTool<unknown> {
  const load = async () => (await import('./tools.ts')).TOOLS[name];
  return {
    prepareInvocation: async ({ input }) => (await load()).prepare(parts, input),
    invoke: async ({ input }, token) => {
      try {
        const answer = await (await load()).invoke(parts, input, token);
        // A last look: whatever a record holds, no key of this machine leaves with it.
        const text = parts.log.clean(JSON.stringify(answer));
        return new LanguageModelToolResult([new LanguageModelTextPart(text)]);
      } catch (error) {
        parts.log.error(`Language model tool ${name}`, error);
        throw new Error(parts.log.clean(explain(error).words));
      }
    },
  };
}
