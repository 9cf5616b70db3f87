/** The tools for language models as VS Code calls them. What they do is tested in test/unit/extension/agents and test/real/mcp. */
import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { until } from '../../workbench/until.ts';

const projectId = 'calm-poetry-195246';
const cancellation = new vscode.CancellationTokenSource();

async function invoke(tool: string, input: object): Promise<Readonly<Record<string, unknown>>> {
  const options = { input, toolInvocationToken: undefined };
  const { content } = await vscode.lm.invokeTool(tool, options, cancellation.token);
  const [part, ...rest] = content;
  assert.ok(part instanceof vscode.LanguageModelTextPart);
  assert.deepEqual(rest, []);
  return JSON.parse(part.value);
}

describe('the tools for language models', () => {
  after(() => cancellation.dispose());

  it('fail with a hint to connect', async () => {
    const input = { projectId, computeId: 'ep-green-hat-340975' };
    await assert.rejects(invoke('hostedPostgres_listComputes', {}), /Hosted Postgres: Connect/);
    await assert.rejects(invoke('hostedPostgres_restartCompute', input), /Hosted Postgres: Connect/);
  });

  describe('in a connected window', () => {
    before(async () => {
      await vscode.commands.executeCommand('hostedPostgres.localService.start');
    });

    it('read and change what the service has', async () => {
      const { branchId, computeId } = await invoke('hostedPostgres_createBranch', { projectId, hours: 1 });
      const own = { projectId, computeId };
      await invoke('hostedPostgres_resizeCompute', { ...own, minCu: 0.5, maxCu: 2 });
      const { minCu, maxCu } = await invoke('hostedPostgres_getCompute', own);
      assert.deepEqual([minCu, maxCu], [0.5, 2]);
      await invoke('hostedPostgres_deleteBranch', { projectId, branchId });
    });

    it('are offered by the MCP server as well, which VS Code starts', async () => {
      const server = 'hosted-postgres.hosted-postgres/Hosted Postgres';
      await vscode.commands.executeCommand('workbench.mcp.startServer', server);
      const named = (name: string) => vscode.lm.tools.find((tool) => tool.name === name);
      // VS Code shortens the name of the server.
      await until('the tools', async () => named('mcp_hosted_postgr_listComputes') !== undefined);
      for (const { name } of vscode.lm.tools.filter((tool) => tool.name.startsWith('hostedPostgres_')))
        assert.ok(named(name.replace('hostedPostgres_', 'mcp_hosted_postgr_')), name);
      const listed = await invoke('mcp_hosted_postgr_listComputes', {});
      assert.match(JSON.stringify(listed), /dashboards/);
      await vscode.commands.executeCommand('workbench.mcp.stopServer', server);
    });
  });
});
