/** Tools for agents in the editor, with the data of the sidebar. package.json describes them to the model. */
import { lm, type LanguageModelTool } from 'vscode';
import { DisposableStore, type Disposable } from '../../base/disposable.ts';

type LoadTool = (name: string) => Promise<LanguageModelTool<unknown>>;

/** @param tools `languageModelTools` of package.json. @param load called on first use */
export function registerTools(tools: readonly { readonly name: string }[], load: LoadTool): Disposable {
  const disposables = new DisposableStore();
  // Some editors based on VS Code have no language models.
  const languageModels: Partial<typeof lm> | undefined = lm;
  if (languageModels?.registerTool === undefined) return disposables;
  for (const { name } of tools)
    disposables.add(
      languageModels.registerTool<unknown>(name, {
        prepareInvocation: async (options, token) => (await load(name)).prepareInvocation?.(options, token),
        invoke: async (options, token) => (await load(name)).invoke(options, token),
      }),
    );
  return disposables;
}
