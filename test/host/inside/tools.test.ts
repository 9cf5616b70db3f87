import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { until } from '../../workbench/until.ts';

interface Fields {
  readonly [field: string]: unknown;
}

interface ProjectList {
  readonly projects: readonly { readonly name: string; readonly computes: readonly Fields[] }[];
}

const playground = { projectId: 'calm-poetry-195246', computeId: 'ep-green-hat-340975' };
const analytics = { projectId: 'quiet-sunset-771503', computeId: 'ep-silent-river-918264' };
const cancellation = new vscode.CancellationTokenSource();

async function invoke<T>(name: string, input: object): Promise<T> {
  const options = { input, toolInvocationToken: undefined };
  const { content } = await vscode.lm.invokeTool(`hostedPostgres_${name}`, options, cancellation.token);
  const [part, ...rest] = content;
  assert.ok(part instanceof vscode.LanguageModelTextPart);
  assert.deepEqual(rest, []);
  return JSON.parse(part.value);
}

const read = (compute: typeof playground) => invoke<Fields>('getCompute', compute);

describe('the tools for language models', () => {
  after(() => cancellation.dispose());

  it('fail with a hint to connect', async () => {
    await assert.rejects(invoke('listComputes', {}), /Hosted Postgres: Connect/);
    await assert.rejects(invoke('restartCompute', playground), /Hosted Postgres: Connect/);
  });

  describe('in a connected window', () => {
    before(async () => {
      await vscode.commands.executeCommand('hostedPostgres.localService.start');
    });

    it('list projects with their computes', async () => {
      const { projects } = await invoke<ProjectList>('listComputes', {});
      assert.deepEqual(
        projects.map(({ name, computes }) => [name, computes.length]),
        [
          ['shop', 3],
          ['analytics', 3],
          ['playground', 2],
        ],
      );
      assert.deepEqual(projects[1]?.computes[1], {
        computeId: analytics.computeId,
        name: 'dashboards',
        branchId: 'br-wispy-meadow-403718',
        type: 'read replica',
        state: 'idle',
        minCu: 1,
        maxCu: 1,
      });
    });

    it('list only the named projects', async () => {
      const names = async (project: unknown) =>
        (await invoke<ProjectList>('listComputes', { project })).projects.map(({ name }) => name);
      assert.deepEqual(await names('PLAY'), ['playground']);
      assert.deepEqual(await names('shiny-wind-028834'), ['shop']);
      assert.deepEqual(await names('nothing'), []);
    });

    it('return the details of one compute', async () => {
      const { host, maxConnections, autosuspend, project } = await read(analytics);
      assert.match(String(host), /^127\.0\.0\.1:\d+$/);
      assert.equal(maxConnections, 450);
      assert.equal(autosuspend, 'after 300 seconds without activity');
      assert.deepEqual(project, {
        projectId: analytics.projectId,
        name: 'analytics',
        region: 'local',
        postgresVersion: 18,
      });
    });

    it('create a branch, and change its compute without a question, to valid values', async () => {
      const { projectId } = playground;
      const { branchId, computeId } = await invoke<Fields>('createBranch', { projectId, hours: 1 });
      const own = { projectId, computeId: String(computeId) };
      for (const input of [
        { ...own, minCu: 0.3 },
        { ...own, minCu: 2, maxCu: 1 },
        { ...own, minCu: 'big' },
        { projectId, computeId: 'ep-missing-000000', minCu: 1 },
        { projectId: '../api_keys', computeId, minCu: 1 },
        { projectId: 'missing', computeId, minCu: 1 },
      ])
        await assert.rejects(invoke('resizeCompute', input), Error, JSON.stringify(input));
      const { minCu, maxCu } = await read(own);
      assert.equal((await invoke<Fields>('resizeCompute', { ...own, minCu, maxCu }))['changed'], false);
      const resized = await invoke<Fields>('resizeCompute', { ...own, minCu: 0.5, maxCu: 2 });
      assert.deepEqual([resized['changed'], resized['restarts']], [true, true]);
      const { minCu: min, maxCu: max } = await read(own);
      assert.deepEqual([min, max], [0.5, 2]);
      for (const action of ['restartCompute', 'suspendCompute', 'startCompute'])
        assert.equal((await invoke<Fields>(action, own))['changed'], true);
      await invoke('deleteBranch', { projectId, branchId });
    });

    it('are offered by the MCP server as well, which VS Code starts', async () => {
      const server = 'hosted-postgres.hosted-postgres/Hosted Postgres';
      await vscode.commands.executeCommand('workbench.mcp.startServer', server);
      const named = (name: string) => vscode.lm.tools.find((tool) => tool.name === name);
      // VS Code shortens the name of the server.
      await until('the tools', async () => named('mcp_hosted_postgr_listComputes') !== undefined);
      for (const { name } of vscode.lm.tools.filter((tool) => tool.name.startsWith('hostedPostgres_')))
        assert.ok(named(name.replace('hostedPostgres_', 'mcp_hosted_postgr_')), name);
      const options = { input: {}, toolInvocationToken: undefined };
      const { content } = await vscode.lm.invokeTool(
        'mcp_hosted_postgr_listComputes',
        options,
        cancellation.token,
      );
      assert.match(JSON.stringify(content), /dashboards/);
      await vscode.commands.executeCommand('workbench.mcp.stopServer', server);
    });

    it('never return a key', async () => {
      const replies = [await invoke('listComputes', {}), await read(playground), await read(analytics)];
      assert.doesNotMatch(JSON.stringify(replies), /napi_|api_?key|password|secret/i);
    });
  });
});
