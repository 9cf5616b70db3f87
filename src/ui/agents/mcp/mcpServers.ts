/** What VS Code offers in its chats. `AgentBridge.resolve` completes it when a chat starts it. */
import { McpStdioServerDefinition } from 'vscode';

/** @param version VS Code lists the tools again with each new one. */
export const mcpServers = (version: string): McpStdioServerDefinition[] => [
  new McpStdioServerDefinition('Hosted Postgres', process.execPath, [], {}, version),
];
