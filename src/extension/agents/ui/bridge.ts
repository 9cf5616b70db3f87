/** Lets agents outside of this window call the tools. Nothing listens before the user, or VS Code, has asked for it. */
import * as vscode from 'vscode';
import { DisposableStore, type Disposable } from '../../../base/disposable.ts';
import { fieldsOf } from '../../../base/fieldsOf.ts';
import { keepUnlessRejected } from '../../window/keepUnlessRejected.ts';
import type { BridgeCall } from '../bridgeMessages.ts';
import { startBridge } from '../bridgeServer.ts';
import { writeLauncher, type LaunchCommand } from '../launcher.ts';
import { setMcpInUse } from '../../window/ui/contextKey.ts';
import { agentsFolder } from './usesAgents.ts';
import { languageModelTool, runInWindow, type WindowDependencies } from './runInWindow.ts';

type Context = Pick<vscode.ExtensionContext, 'globalStorageUri' | 'extensionUri'>;

/** Starts this window's end of the bridge for agents, once it is needed. */
export class AgentBridge implements Disposable {
  readonly #context: Context;
  readonly #deps: WindowDependencies;
  readonly #disposables = new DisposableStore();

  constructor(context: Context, deps: WindowDependencies) {
    this.#context = context;
    this.#deps = deps;
  }

  /**
   * Writes the launcher. From now on, each window listens, because the launcher exists: see `usesAgents`.
   * @returns the command with which agents start the MCP program
   * @throws {Error} if this window can't listen
   */
  readonly enable = keepUnlessRejected(() => this.#listen());

  /** Completes the definition of the program. VS Code calls it before it starts the program. */
  async resolve(definition: vscode.McpStdioServerDefinition): Promise<vscode.McpStdioServerDefinition> {
    await this.enable();
    definition.args = [this.#script];
    const [folder] = vscode.workspace.workspaceFolders ?? [];
    if (folder !== undefined) definition.cwd = folder.uri;
    definition.env = {
      ELECTRON_RUN_AS_NODE: '1',
      HOSTED_POSTGRES_AGENTS: this.#folder,
      HOSTED_POSTGRES_WINDOW: String(process.pid),
    };
    return definition;
  }

  /** Returns a tool for VS Code's chat, for which nothing listens. @param name see `languageModelTool` */
  languageModelTool(name: string): vscode.LanguageModelTool<unknown> {
    return languageModelTool(this.#deps, name);
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  get #folder(): string {
    return agentsFolder(this.#context.globalStorageUri);
  }

  get #script(): string {
    return vscode.Uri.joinPath(this.#context.extensionUri, 'dist', 'mcp.js').fsPath;
  }

  async #listen(): Promise<LaunchCommand> {
    const folder = this.#folder;
    const folders = () => (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
    const server = await startBridge({ folder, call: this.#call, onPresence: setMcpInUse }, folders());
    const isStable = process.versions['electron'] !== undefined;
    const launcher = { folder, program: process.execPath, isStable, script: this.#script };
    const launch = await writeLauncher(launcher).catch((error: unknown) => {
      server.dispose();
      throw error;
    });
    this.#disposables.add(server);
    const publish = () =>
      void server.publish(folders()).catch((error: unknown) => this.#deps.log.error('Agents', error));
    this.#disposables.add(vscode.workspace.onDidChangeWorkspaceFolders(publish));
    this.#disposables.add(
      vscode.window.onDidChangeWindowState(({ focused }) => {
        if (focused) publish();
      }),
    );
    registerWithCursor(launch);
    return launch;
  }

  readonly #call = ({ tool, input, agent, folder }: BridgeCall, signal: AbortSignal): Promise<object> =>
    runInWindow(this.#deps, tool, input, { agent, folder, signal });
}

/** Registers the MCP server with Cursor, which has a separate API for such servers. */
function registerWithCursor(launch: LaunchCommand): void {
  const { mcp } = fieldsOf(Reflect.get(vscode, 'cursor'));
  const { registerServer } = fieldsOf(mcp);
  if (typeof registerServer === 'function')
    registerServer.call(mcp, { name: 'hosted-postgres', server: { env: {}, ...launch } });
}
