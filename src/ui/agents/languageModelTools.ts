/** The tools as VS Code's chat calls them. It may ask nothing, so the tools themselves ask the user before a change. */
import { LanguageModelTextPart, LanguageModelToolResult, workspace, type LanguageModelTool } from 'vscode';
import { runInWindow, type WindowDependencies } from './runInWindow.ts';

/** @param name as in package.json, such as `hostedPostgres_listComputes` */
export const languageModelTool = (deps: WindowDependencies, name: string): LanguageModelTool<unknown> => ({
  async invoke({ input }, token) {
    const controller = new AbortController();
    const listener = token.onCancellationRequested(() => controller.abort());
    const folder = workspace.workspaceFolders?.[0]?.uri.fsPath;
    const caller = { agent: 'VS Code', folder, signal: controller.signal };
    try {
      const output = await runInWindow(deps, name.replace('hostedPostgres_', ''), input, caller);
      return new LanguageModelToolResult([new LanguageModelTextPart(JSON.stringify(output))]);
    } finally {
      listener.dispose();
    }
  },
});
