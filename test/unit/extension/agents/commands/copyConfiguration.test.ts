import { copied, quickPicks } from '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import type { CommandContext } from '../../../../../src/extension/commandSupport/context.ts';
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
  const copyFor = async (client: string): Promise<string> => {
    const { quickPick, end } = await start();
    while (quickPick.active !== client) quickPick.down();
    quickPick.accept();
    await end;
    return copied.at(-1) ?? '';
  };

  it('names the launcher, as each agent wants it', async () => {
    for (const client of ['Claude Code', 'Cursor', 'Windsurf'])
      assert.deepEqual(JSON.parse(await copyFor(client)), { mcpServers: { 'hosted-postgres': server } });
    assert.deepEqual(JSON.parse(await copyFor('VS Code (GitHub Copilot)')), {
      servers: { 'hosted-postgres': server },
    });
    assert.equal(
      await copyFor('Codex'),
      '[mcp_servers.hosted-postgres]\ncommand = "/home/me/a \\"b\\"/hosted-postgres-mcp"\nargs = []\n',
    );
    assert.ok(isEnabled);
  });

  it('marks the moment before each turn, in the format of the agent', async () => {
    const quoted = process.platform === 'win32' ? `"${server.command}"` : `'${server.command}'`;
    const copy = async (client: string) =>
      JSON.parse(await copyFor(`${client}: a moment for Undo before each turn`)) as unknown;
    const claude = { type: 'command', command: `${quoted} hook claude-code` };
    assert.deepEqual(await copy('Claude Code'), { hooks: { UserPromptSubmit: [{ hooks: [claude] }] } });
    const name = process.platform === 'win32' ? '"VS Code"' : "'VS Code'";
    const code = { type: 'command', command: `${quoted} hook ${name}` };
    assert.deepEqual(await copy('VS Code'), { hooks: { UserPromptSubmit: [code] } });
  });

  it('lets no window listen if the user cancels', async () => {
    const { quickPick, end } = await start();
    quickPick.cancel();
    await end;
    assert.deepEqual([isEnabled, copied], [false, []]);
  });
});
