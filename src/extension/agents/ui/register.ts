/** Offers the tools and the MCP server to agents in the editor. package.json describes the tools to the model. */
import * as vscode from 'vscode';
import { DisposableStore, type Disposable } from '../../../base/disposable.ts';
import type { AgentBridge } from './bridge.ts';

interface AgentApp {
  readonly languageModelTool: (name: string) => Promise<vscode.LanguageModelTool<unknown>>;
  readonly agentBridge: () => Promise<Pick<AgentBridge, 'resolve'>>;
}

interface Manifest {
  readonly version: string;
  readonly contributes: { readonly languageModelTools: readonly { readonly name: string }[] };
}

/** @param load called on first use. @param account whether there is an account, and its changes */
export function registerAgents(
  { extension }: Pick<vscode.ExtensionContext, 'extension'>,
  load: () => Promise<AgentApp>,
  account: { readonly exists: () => boolean; readonly onDidChange: vscode.Event<void> },
): Disposable {
  const disposables = new DisposableStore();
  const { version, contributes }: Manifest = extension.packageJSON;
  // Some editors based on VS Code have no language models, or no MCP servers.
  const languageModels: Partial<typeof vscode.lm> | undefined = vscode.lm;
  const provider = languageModels?.registerMcpServerDefinitionProvider?.('hostedPostgres', {
    onDidChangeMcpServerDefinitions: account.onDidChange,
    // The bridge completes the definition when a chat starts the server. VS Code lists the tools again with each new version.
    provideMcpServerDefinitions: () =>
      account.exists()
        ? [new vscode.McpStdioServerDefinition('Hosted Postgres', process.execPath, [], {}, version)]
        : [],
    resolveMcpServerDefinition: async (server: vscode.McpStdioServerDefinition) =>
      (await (await load()).agentBridge()).resolve(server),
  });
  if (provider !== undefined) disposables.add(provider);
  if (languageModels?.registerTool === undefined) return disposables;
  for (const { name } of contributes.languageModelTools)
    disposables.add(
      languageModels.registerTool<unknown>(name, {
        invoke: async (options, token) =>
          (await (await load()).languageModelTool(name)).invoke(options, token),
      }),
    );
  return disposables;
}
