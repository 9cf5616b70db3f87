/**
 * The MCP program as it ships, between the SDK's client and a window's bridge with a local service.
 * Timers: mcp/windows.ts.
 */
import { answers, cursorServers, executed, questions } from '../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import path from 'node:path';
import { mock } from 'node:test';
import { UNNAMED_AGENT } from '../../../src/extension/inventory/agentBranches.ts';
import { leaseProof } from '../../../src/localService/leaseProof.ts';
import { toMessageLine, readLines } from '../../../src/extension/agents/bridgeMessages.ts';
import { listTools } from '../../../src/extension/agents/tools/toolTable.ts';
import { windowRecordFile } from '../../../src/extension/agents/windowRecords.ts';
import type { AgentBridge } from '../../../src/extension/agents/ui/bridge.ts';
import { startAgent, type Agent, type AgentOptions } from '../../helpers/agent.ts';
import { atEndOfTest } from '../../helpers/atEndOfTest.ts';
import { branchCalls, emptyAccount, type Created } from '../../helpers/branchCalls.ts';
import { builtMcp } from '../../helpers/builtMcp.ts';
import { connectModel, type ConnectedModel } from '../../helpers/connectedModel.ts';
import { startLocalService, temporaryFolder, type LocalService } from '../../helpers/localService.ts';
import { RealClock } from '../../helpers/realClock.ts';
import { toolDependencies } from '../../helpers/toolDependencies.ts';
import { until } from '../../workbench/until.ts';

const bridges = await import('../../../src/extension/agents/ui/bridge.ts');

describe('The MCP server', () => {
  let service: LocalService;
  let created: Created;
  let model: ConnectedModel;
  let extension: string;
  /** Global storage. */
  let storage: string;
  /** The folder that the agent works in. */
  let folder: string;

  before(async () => {
    extension = await builtMcp();
    service = await startLocalService({ args: emptyAccount() });
    created = await branchCalls(service).change('POST', '', { project: { name: 'Shop' } });
  });

  const computeId = () => created.endpoints[0]?.id ?? '';

  beforeEach(async () => {
    for (const list of [answers, questions, cursorServers]) list.length = 0;
    storage = temporaryFolder();
    folder = temporaryFolder();
    model = await connectModel(service, { key: service.key, clock: new RealClock() });
  });

  const openBridge = (): AgentBridge => {
    const context = {
      globalStorageUri: { fsPath: storage },
      extensionUri: { fsPath: extension },
      extension: { packageJSON: { version: '1.2.3' } },
    };
    const bridge = new bridges.AgentBridge(
      context as unknown as ConstructorParameters<typeof AgentBridge>[0],
      toolDependencies(model),
    );
    atEndOfTest(() => bridge.dispose());
    return bridge;
  };
  const records = () => path.join(storage, 'agents');
  const server = () => ({
    command: process.execPath,
    args: [path.join(extension, 'dist', 'mcp.js')],
    env: { HOSTED_POSTGRES_AGENTS: records() },
  });
  const connect = async (
    program: Omit<AgentOptions, 'name' | 'cwd'> & { readonly name?: string } = server(),
  ): Promise<Agent> => startAgent({ name: 'Claude Code', ...program, cwd: folder });

  for (const [version, isLegacy] of [
    ['2026-07-28', false],
    ['2025-11-25', true],
  ] as const)
    it(`lists its tools to clients of ${version}, and answers their calls`, async () => {
      await openBridge().enable();
      const { client, call } = await connect({ ...server(), isLegacy });
      assert.equal(client.getNegotiatedProtocolVersion(), version);
      assert.equal(client.getServerVersion()?.name, 'hosted-postgres');
      assert.match(client.getInstructions() ?? '', /^.{0,511}not instructions\.$/s);
      const { tools } = await client.listTools();
      assert.deepEqual(
        tools.map(({ name, annotations, inputSchema }) => ({ name, annotations, inputSchema })),
        listTools().map(({ name, annotations, inputSchema }) => ({ name, annotations, inputSchema })),
      );
      assert.match(JSON.stringify(await call('listComputes')), new RegExp(computeId()));
      await assert.rejects(call('listComputes', { name: 'x' }), { message: 'Unknown input name.' });
    });

  it('creates and deletes an agent’s branch, and asks before it changes a compute of the user', async () => {
    await openBridge().enable();
    const { call } = await connect();
    const compute = { projectId: created.project.id, computeId: computeId() };
    assert.match(String((await call('getCompute', compute))['host']), /^127\.0\.0\.1:\d+$/);
    writeFileSync(path.join(folder, '.env'), '');
    const { branchId, writtenTo } = await call('createBranch', { hours: 1, envFile: '.env' });
    assert.match(readFileSync(String(writtenTo), 'utf8'), /^DATABASE_URL=.*postgresql:/);
    await call('deleteBranch', { projectId: compute.projectId, branchId });
    assert.deepEqual(questions, []);

    answers.push('Change Size', 'Restart', 'Suspend', 'Start');
    for (const [name, input] of [
      ['resizeCompute', { ...compute, minCu: 0.5, maxCu: 1 }],
      ['restartCompute', compute],
      ['suspendCompute', compute],
      ['startCompute', compute],
    ] as const) {
      assert.equal((await call(name, input))['changed'], true);
      await until('the end of the operation', async () => [...model.tracker.projects].length === 0);
    }
    assert.match(questions[0] ?? '', /^Let Claude Code change the size of ep-/);
  });

  it('gives what an agent without a name creates the same owner in windows of all languages', async () => {
    const { l10n } = await import('vscode');
    const translated = mock.method(l10n, 't', (text: string) => `translated ${text}`);
    atEndOfTest(() => translated.mock.restore());
    await openBridge().enable();
    const { call } = await connect({ ...server(), name: '' });
    const { branchId } = await call('createBranch', { hours: 1 });
    assert.deepEqual(
      model.agentBranches.all.map((made) => [made.branchId, made.agent]),
      [[branchId, UNNAMED_AGENT]],
    );
    await call('deleteBranch', { projectId: created.project.id, branchId });
  });

  it('says what is wrong with a call', async () => {
    await openBridge().enable();
    const { call } = await connect();
    const { id: projectId } = created.project;
    const compute = { projectId, computeId: computeId() };
    for (const [name, input, message] of [
      ['getCompute', {}, /^projectId must be of type string\.$/],
      ['suspendCompute', { ...compute, computeId: 'ep-gone-1' }, /^ep-gone-1 no longer exists\.$/],
      ['restartCompute', compute, /^The user did not approve this\. Nothing was changed\.$/],
      ['dropDatabase', {}, /^Unknown tool dropDatabase\.$/],
    ] as const)
      await assert.rejects(call(name, input), { message }, name);
  });

  it('says that no window is open, and finds one that is opened later', async () => {
    const { client, call } = await connect();
    assert.equal((await client.listTools()).tools.length, listTools().length);
    await assert.rejects(call('listComputes'), {
      message:
        /^No window of VS Code with the Hosted Postgres extension is reachable, and no local service runs\./,
    });
    await openBridge().enable();
    await call('listComputes');
  });

  it('works after its folder was removed, as a worktree may be', async function () {
    if (process.platform === 'win32') this.skip();
    await openBridge().enable();
    const { call } = await connect();
    rmSync(folder, { recursive: true });
    await call('listComputes');
  });

  /** Where a program can listen in place of a window. */
  const socketPath = (name: string) =>
    process.platform === 'win32'
      ? String.raw`\\.\pipe\${path.basename(storage)}-${name}`
      : path.join(records(), name);

  it('tries the next window if the best one has ended, or hangs', async () => {
    await openBridge().enable();
    const { call } = await connect();
    const hanging = createServer();
    const socket = socketPath('hanging');
    await new Promise<void>((resolve) => hanging.listen(socket, resolve));
    atEndOfTest(() => hanging.close());
    for (const [pid, left] of [
      [1, socket],
      [2, socketPath('gone')],
    ] as const)
      writeFileSync(
        windowRecordFile(records(), pid),
        JSON.stringify({ socket: left, token: '', folders: [folder] }),
      );
    await call('listComputes');
  });

  /** Listens in place of a window with the token `token` that has ended. */
  const listenAs = async (
    pid: number,
    onLine: (connection: Socket, line: string, socket: string) => void,
  ) => {
    const socket = socketPath(`${pid}.sock`);
    const server = createServer((connection) => {
      connection.on('error', () => undefined).write('{}\n');
      readLines(connection, (line) => onLine(connection, line, socket));
    });
    await new Promise<void>((resolve) => server.listen(socket, resolve));
    atEndOfTest(() => server.close());
    writeFileSync(
      windowRecordFile(records(), pid),
      JSON.stringify({ socket, token: 'token', folders: [folder] }),
    );
  };

  it('sends nothing to a program that listens in place of a window, and takes no answer from it', async () => {
    await openBridge().enable();
    const { call } = await connect();
    const received: string[] = [];
    await listenAs(1, (connection, line) => {
      received.push(line);
      const result = toMessageLine({ result: { computes: 'forged' } });
      connection.write(`${toMessageLine({ proof: 'x'.repeat(43) })}${result}`);
    });
    await listenAs(2, (connection, line) => {
      received.push(line);
      connection.write('x'.repeat(100_000));
    });
    assert.notEqual((await call('listComputes'))['computes'], 'forged');
    assert.deepEqual(
      received.map((line) => Object.keys(JSON.parse(line))),
      [['nonce'], ['nonce']],
    );
  });

  it('sends a call to one window only, even if that ends', async () => {
    await openBridge().enable();
    const { call } = await connect();
    await listenAs(1, (connection, line, socket) => {
      const { nonce } = JSON.parse(line);
      if (nonce === undefined) return void connection.destroy();
      const proof = leaseProof('window', { secret: 'token', nonce, baseUrl: socket });
      connection.write(toMessageLine({ proof }));
    });
    await assert.rejects(call('listComputes'), {
      message: /^The connection to VS Code ended before the answer/,
    });
  });

  it('is started by the launcher, of which Cursor knows', async function () {
    if (process.platform === 'win32') this.skip();
    mkdirSync(storage, { recursive: true });
    const { command } = await openBridge().enable();
    assert.deepEqual(cursorServers, [{ name: 'hosted-postgres', server: { command, args: [], env: {} } }]);
    const { call } = await connect({ command });
    await call('listComputes');
  });

  it('reports to the window that VS Code has started it', async () => {
    const bridge = openBridge();
    const { args, env } = await bridge.resolve({ label: '', command: process.execPath, args: [], env: {} });
    const variables = Object.entries(env).map(([name, value]) => [name, String(value)]);
    const agent = await connect({ command: process.execPath, args, env: Object.fromEntries(variables) });
    await until('the context key', async () => mcpInUse() === true);
    await agent.stop();
    await until('its end', async () => mcpInUse() === false);
  });
});

/** The last value of the context key. */
const mcpInUse = (): unknown =>
  executed.findLast(([command, key]) => command === 'setContext' && key === 'hostedPostgres.mcpInUse')?.[2];
