/**
 * Finds out whether the user, or VS Code, has asked for the MCP server before. If not, no window listens for agents. The launcher on
 * disk shows it, because agents start the launcher, and all profiles share it, while each profile has a separate stored state.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Uri } from 'vscode';
import { launcherFile } from '../launcherFile.ts';

/** Returns the folder for the launcher and for the records of windows. */
export const agentsFolder = ({ fsPath }: Pick<Uri, 'fsPath'>): string => path.join(fsPath, 'agents');

/** Whether the bridge for agents was ever enabled on this machine: then its launcher exists. */
export const usesAgents = (globalStorage: Pick<Uri, 'fsPath'>): boolean =>
  existsSync(launcherFile(agentsFolder(globalStorage)));
