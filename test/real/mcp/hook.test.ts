/** The MCP program as it ships, as a hook of agents before each turn. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { ANOTHER_SERVER } from '../../helpers/anotherServer.ts';
import { branchCalls, emptyAccount } from '../../helpers/branchCalls.ts';
import { builtMcp } from '../../helpers/builtMcp.ts';
import { startLocalService, temporaryFolder, type LocalService } from '../../helpers/localService.ts';
import { until } from '../../workbench/until.ts';
import { connectAgent } from './connectAgent.ts';

/** Runs a hook until it has added a turn. On a slow machine, a hook may give up, because an agent waits for it. */
async function marks(turns: () => Promise<readonly unknown[]>, runHook: () => void): Promise<void> {
  const before = JSON.stringify(await turns());
  await until('the mark', async () => {
    runHook();
    return JSON.stringify(await turns()) !== before;
  });
}

describe('The hook of agents', () => {
  let service: LocalService;
  let extension: string;
  let folder: string;
  let dataDir: string;

  before(async () => {
    extension = await builtMcp();
    dataDir = temporaryFolder();
    service = await startLocalService({ dataDir, args: emptyAccount() });
    await branchCalls(service).change('POST', '', { project: { name: 'Shop' } });
  });

  beforeEach(() => {
    folder = temporaryFolder();
  });

  const connect = () =>
    connectAgent({ HOSTED_POSTGRES_DATA_DIR: dataDir }, { cwd: folder, name: 'claude-code' });

  it('marks the moment before a turn, and prints nothing', async () => {
    const { call } = await connect();
    const { projectId, branchId } = await call('createBranch', { hours: 1 });
    const other = temporaryFolder();
    const env = { ...process.env, ...ANOTHER_SERVER, HOSTED_POSTGRES_DATA_DIR: dataDir };
    const hook = (input: string, cwd: string, before: readonly string[] = []) =>
      execFileSync(
        process.execPath,
        [path.join(extension, 'dist', 'mcp.js'), ...before, 'hook', 'claude-code'],
        { cwd, env, input, encoding: 'utf8' },
      );
    const turns = async () => {
      const { moments } = await call('undo', { projectId, branchId });
      return (moments as { before: string }[]).filter(({ before }) => before === 'claude-code: its turn');
    };
    assert.equal(hook(JSON.stringify({ session_id: '1', cwd: other, prompt: 'x' }), folder), '');
    assert.equal((await turns()).length, 0);
    await marks(turns, () =>
      assert.equal(hook(JSON.stringify({ session_id: '1', cwd: folder, prompt: 'x' }), other), ''),
    );
    assert.equal((await turns()).length, 1);
    await marks(turns, () => assert.equal(hook('no JSON', folder), ''));
    assert.equal((await turns()).length, 2);
    env.HOSTED_POSTGRES_DATA_DIR = other;
    assert.equal(hook('{}', folder), '');
    await marks(turns, () => assert.equal(hook('{}', folder, ['--data-dir', dataDir]), ''));
    await call('deleteBranch', { projectId, branchId });
  });

  /** Inputs and variables of hooks as the clients of November 2026 gave them. */
  it('marks one moment a turn, of the agent whose turn it is, and none without a prompt', async () => {
    const { call } = await connect();
    const { projectId, branchId } = await call('createBranch', { hours: 1 });
    const hook = (configured: string, variables: Record<string, string>, input: object) => {
      const env = { ...process.env, ...ANOTHER_SERVER, HOSTED_POSTGRES_DATA_DIR: dataDir };
      for (const name of Object.keys(env))
        if (/^(?:CLAUDE|COPILOT|GEMINI|QWEN)/.test(name)) Reflect.deleteProperty(env, name);
      execFileSync(process.execPath, [path.join(extension, 'dist', 'mcp.js'), 'hook', configured], {
        cwd: folder,
        env: { ...env, ...variables },
        input: JSON.stringify({ cwd: folder, prompt: 'x', ...input }),
      });
    };
    const turns = async () => {
      const { moments } = await call('undo', { projectId, branchId });
      const before = (moments as { before: string }[]).map((moment) => moment.before);
      return before.flatMap((text) => /^(.*): its turn$/.exec(text)?.[1] ?? []);
    };
    const copilot = { COPILOT_CLI: '1', CLAUDE_PROJECT_DIR: folder };
    const time = Date.UTC(2026, 10, 28, 18, 55, 46, 194);
    const iso = { hook_event_name: 'UserPromptSubmit', timestamp: new Date(time).toISOString() };
    const mark = async (...args: Parameters<typeof hook>) => marks(turns, () => hook(...args));
    await mark('VS Code', copilot, { sessionId: 's', timestamp: time });
    hook('VS Code', copilot, { session_id: 's', ...iso });
    hook('claude-code', copilot, { session_id: 's', ...iso });
    assert.deepEqual(await turns(), ['copilot-cli']);
    const qwen = { QWEN_CODE_SESSION_ID: 'q', CLAUDE_PROJECT_DIR: folder };
    await mark('claude-code', qwen, { session_id: 'q', prompt_id: 'q########0' });
    hook('qwen-code', qwen, { session_id: 'q', prompt_id: 'q########0', prompt: '' });
    const claude = { CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: 'c', COPILOT_CLI: '1' };
    await mark('claude-code', claude, { session_id: 'c', prompt_id: 'one' });
    await mark('codex', {}, { session_id: 'x', turn_id: 'one' });
    assert.deepEqual(await turns(), ['codex', 'claude-code', 'qwen-code', 'copilot-cli']);
    // Agents in the terminal of Claude Code, which inherit its variables.
    await mark('codex', claude, { session_id: 'x', turn_id: 'two' });
    await mark('gemini-cli', { ...claude, GEMINI_SESSION_ID: 'g' }, { session_id: 'g', timestamp: time });
    await mark('claude-code', claude, { session_id: 'p', ...iso });
    assert.deepEqual((await turns()).slice(0, 3), ['copilot-cli', 'gemini-cli', 'codex']);
    await call('deleteBranch', { projectId, branchId });
  });

  it('ends a hook whose input stays open', async () => {
    const args = [path.join(extension, 'dist', 'mcp.js'), 'hook', 'claude-code'];
    const env = { ...process.env, ...ANOTHER_SERVER, HOSTED_POSTGRES_DATA_DIR: dataDir };
    const hook = spawn(process.execPath, args, { cwd: folder, env, stdio: ['pipe', 'inherit', 'inherit'] });
    assert.deepEqual(await once(hook, 'exit'), [0, null]);
  });
});
