import { copied, quickPicks } from '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import os from 'node:os';
import path from 'node:path';
import type { CommandContext } from '../../../../../src/extension/commandSupport/context.ts';
import { encodedHookLine, hookLine } from '../../../../../src/extension/agents/commandLine.ts';
import { MCP_CLIENTS, AGENT_HOOKS } from '../../../../../src/extension/agents/clientFormats.ts';
import { until } from '../../../../workbench/until.ts';

const { copyConfiguration } =
  await import('../../../../../src/extension/agents/commands/copyConfiguration.ts');

const server = { command: '/home/me/a "b"/hosted-postgres-mcp', args: [] };

describe('Copy MCP Configuration for…', () => {
  let isEnabled: boolean;

  beforeEach(() => {
    isEnabled = false;
    copied.length = 0;
  });

  const enable = async () => {
    isEnabled = true;
    return server;
  };
  const start = async () => {
    const context = { agentBridge: async () => ({ enable }) } as unknown as CommandContext;
    const end = copyConfiguration(context, undefined, { failureMessage: '', initialConnection: undefined });
    await until('the question', async () => quickPicks.length === 1);
    const [quickPick] = quickPicks;
    assert.ok(quickPick !== undefined);
    return { quickPick, end };
  };
  const copyFor = async (client: string, approval?: string): Promise<string> => {
    const { quickPick, end } = await start();
    while (quickPick.active !== client) quickPick.down();
    quickPick.accept();
    if (approval !== undefined) {
      await until(
        'the second question',
        async () => quickPicks.at(-1) !== quickPick && quickPicks.length > 0,
      );
      const second = quickPicks.at(-1);
      assert.ok(second !== undefined);
      while (second.active !== approval) second.down();
      second.accept();
    }
    await end;
    return copied.at(-1) ?? '';
  };

  it('names the launcher, as each agent wants it', async () => {
    for (const client of ['Cursor', 'Windsurf'])
      assert.deepEqual(JSON.parse(await copyFor(client)), { mcpServers: { 'hosted-postgres': server } });
    assert.deepEqual(JSON.parse(await copyFor('VS Code (GitHub Copilot)')), {
      servers: { 'hosted-postgres': server },
    });
    const words = process.platform === 'win32' ? `'${server.command}'` : `'${server.command}'`;
    assert.equal(await copyFor('Claude Code'), `claude mcp add --scope user hosted-postgres -- ${words}`);
    assert.equal(await copyFor('Copilot CLI'), `copilot mcp add hosted-postgres -- ${words}`);
    assert.deepEqual(JSON.parse(await copyFor('opencode')), {
      mcp: { 'hosted-postgres': { type: 'local', command: [server.command] } },
    });
    assert.ok(isEnabled);
  });

  it('asks whether the agent works without a user, if its configuration says so', async () => {
    const copyForBoth = async (client: string) => {
      const texts: string[] = [];
      for (const approval of ['asks before its calls', 'asks about nothing, also for unattended work'])
        texts.push(await copyFor(client, `${client} ${approval}`));
      return texts;
    };
    for (const client of ['Gemini CLI', 'Qwen Code']) {
      const [asks = '', trusts = ''] = await copyForBoth(client);
      assert.deepEqual(JSON.parse(asks), { mcpServers: { 'hosted-postgres': server } });
      assert.deepEqual(JSON.parse(trusts), {
        mcpServers: { 'hosted-postgres': { ...server, trust: true } },
      });
    }
    const [asks = '', approves = ''] = await copyForBoth('Codex');
    assert.equal(asks, `codex mcp add hosted-postgres -- '${server.command}'`);
    assert.match(
      approves,
      /^\[mcp_servers\.hosted-postgres\]\ncommand = "\/home\/me\/a \\"b\\"\/hosted-postgres-mcp"$/m,
    );
    assert.match(approves, /^default_tools_approval_mode = "approve"$/m);
    assert.match(approves, /^env_vars = \["HOSTED_POSTGRES_DATA_DIR"\]$/m);
  });

  it('copies the rule by which Claude Code asks about nothing', async () => {
    const rule = await copyFor('Claude Code asks about nothing, also for unattended work');
    assert.deepEqual(JSON.parse(rule), { permissions: { allow: ['mcp__hosted-postgres'] } });
  });

  it('marks the moment before each turn, in the format of the agent', async () => {
    const copy = async (client: string) =>
      JSON.parse(await copyFor(`${client}: a moment for Undo before each turn`)) as unknown;
    const shell = process.platform === 'win32' ? { shell: 'powershell' } : {};
    for (const [client, event, agent, more] of [
      ['Claude Code', 'UserPromptSubmit', 'claude-code', shell],
      ['Qwen Code', 'UserPromptSubmit', 'qwen-code', shell],
      ['Gemini CLI', 'BeforeAgent', 'gemini-cli', {}],
    ] as const) {
      const hook = { type: 'command', command: hookLine(server, agent), ...more };
      assert.deepEqual(await copy(client), { hooks: { [event]: [{ hooks: [hook] }] } });
    }
    const codex = { type: 'command', command: encodedHookLine(server, 'codex') };
    assert.deepEqual(await copy('Codex'), { hooks: { UserPromptSubmit: [{ hooks: [codex] }] } });
    const code = { type: 'command', command: hookLine(server, 'VS Code') };
    assert.deepEqual(await copy('VS Code, Copilot CLI'), { version: 1, hooks: { UserPromptSubmit: [code] } });
  });

  it('writes no personal path to a file that a team shares', () => {
    const own = { command: path.join(os.homedir(), 'x y', 'run'), args: [path.join(os.homedir(), 'z.mjs')] };
    for (const { target, text } of [...MCP_CLIENTS, ...AGENT_HOOKS])
      if (target.startsWith('.'))
        assert.ok(!text(own).includes(JSON.stringify(os.homedir()).slice(1, -1)), target);
  });

  it('lets no window listen if the user cancels', async () => {
    const { quickPick, end } = await start();
    quickPick.cancel();
    await end;
    assert.deepEqual([isEnabled, copied], [false, []]);
  });
});
