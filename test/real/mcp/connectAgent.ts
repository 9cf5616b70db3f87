import path from 'node:path';
import { startAgent, type Agent, type AgentOptions } from '../../helpers/agent.ts';
import { ANOTHER_SERVER } from '../../helpers/anotherServer.ts';
import { builtMcp } from '../../helpers/builtMcp.ts';
import { temporaryFolder } from '../../helpers/localService.ts';

/**
 * Connects an agent to the MCP program as it ships.
 * @param env where the program finds a service, such as `HOSTED_POSTGRES_DATA_DIR`
 */
export async function connectAgent(
  env: Record<string, string>,
  options: Partial<AgentOptions> = {},
): Promise<Agent> {
  return startAgent({
    name: 'Claude Code',
    command: process.execPath,
    args: [path.join(await builtMcp(), 'dist', 'mcp.js')],
    cwd: temporaryFolder(),
    env: { ...ANOTHER_SERVER, ...env },
    ...options,
  });
}
