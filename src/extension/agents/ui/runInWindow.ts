/** Runs the tools with what only a window has: the user, who can be asked, and VS Code's trust and git. */
import * as vscode from 'vscode';
import { CallOrder } from '../callOrder.ts';
import { outputText } from '../outputText.ts';
import { runTool } from '../tools/runTool.ts';
import type { ToolCaller, ToolDependencies } from '../tools/toolCall.ts';
import { runGit } from '../../window/ui/git.ts';
import type { Config } from '../../window/ui/config.ts';
import { requireTrust } from '../../window/ui/workspace.ts';
import { explainError } from '../../window/ui/errorMessage.ts';
import { approvalRequest, approveForAgent } from './approveForAgent.ts';

type FromWindow = 'runGit' | 'envSettings' | 'explain' | 'requireTrust' | 'approve';
export type WindowDependencies = Omit<ToolDependencies, FromWindow> & {
  readonly config: Pick<Config, 'envFileSettings'>;
};

/** @param name any text @returns the tool's output, without secrets @throws {Error} with a sentence for the model */
export const runInWindow = (
  deps: WindowDependencies,
  name: string,
  input: unknown,
  caller: ToolCaller,
): Promise<object> =>
  runTool(
    {
      ...deps,
      runGit,
      envSettings: {
        folders: () =>
          (vscode.workspace.workspaceFolders ?? [])
            .filter(({ uri }) => uri.scheme === 'file')
            .map(({ uri }) => uri.fsPath),
        of: (folder) => deps.config.envFileSettings(vscode.Uri.file(folder)),
      },
      requireTrust,
      explain: (error) => explainError(error).message,
      async approve(change, connection, signal) {
        // The question names the project, so the projects must be loaded.
        await deps.inventory.projects?.ensureLoaded();
        await approveForAgent(deps, approvalRequest(deps.inventory, change), connection, signal);
      },
    },
    name,
    input,
    caller,
  );

/** The order of calls is shared by all tools of the chat. */
const order = new CallOrder();

/** Returns a tool for VS Code's chat. @param name the name as in package.json, such as `hostedPostgres_listComputes` */
export const languageModelTool = (
  deps: WindowDependencies,
  name: string,
): vscode.LanguageModelTool<unknown> => ({
  async invoke({ input }, token) {
    const controller = new AbortController();
    const listener = token.onCancellationRequested(() => controller.abort());
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
    const caller = { agent: 'VS Code', folder, signal: controller.signal };
    try {
      const tool = name.replace('hostedPostgres_', '');
      const call = () => runInWindow(deps, tool, input, caller);
      const output = await order.run(tool, input, caller.signal, call);
      const text = new vscode.LanguageModelTextPart(outputText(output));
      return new vscode.LanguageModelToolResult([text]);
    } finally {
      listener.dispose();
    }
  },
});
