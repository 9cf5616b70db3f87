/** Whether the user, or VS Code, has asked for the MCP server before. Without that, no window listens for agents. */
import type { Memento } from 'vscode';

const ENTRY = 'hostedPostgres.usesAgents';

export const usesAgents = (memory: Pick<Memento, 'get'>): boolean => memory.get(ENTRY) === true;

export const rememberAgents = async (memory: Pick<Memento, 'update'>): Promise<void> =>
  await memory.update(ENTRY, true);
