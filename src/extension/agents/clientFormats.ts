/**
 * What the configuration of each client of MCP looks like, and that of its hooks, as the versions in docs/agents.md read it. Where a
 * client has a command for it, that is offered: a table twice in its file would stop Codex.
 */
import os from 'node:os';
import { encodedHookLine, hookLine, terminalLine } from './commandLine.ts';
import type { Launch } from './launcher.ts';

export const SERVER_NAME = 'hosted-postgres';

export interface ClientFormat {
  readonly label: string;
  /** Where the text goes: a file, or the terminal. */
  readonly target: string;
  readonly text: (launch: Launch) => string;
  /** The same for a client that asks about no tool, if the configuration says so. Without that, it refuses most of them unattended. */
  readonly unattended?: Pick<ClientFormat, 'target' | 'text'>;
}

/** Stands for the terminal as a target. */
export const TERMINAL = 'terminal';

const pretty = (value: object): string => JSON.stringify(value, undefined, 2);

const json =
  (key: string, more: object = {}) =>
  (launch: Launch) =>
    pretty({ [key]: { [SERVER_NAME]: { ...launch, ...more } } });

const toml = ({ command, args, env = {} }: Launch) =>
  [
    `[mcp_servers.${SERVER_NAME}]`,
    `command = ${JSON.stringify(command)}`,
    `args = ${JSON.stringify(args)}`,
    // Codex passes on only what is named here.
    'env_vars = ["HOSTED_POSTGRES_DATA_DIR"]',
    'default_tools_approval_mode = "approve"',
    ...Object.entries(env).map(([name, value]) => `env.${name} = ${JSON.stringify(value)}`),
    '',
  ].join('\n');

/** @param flag before each variable */
const add = (words: readonly string[], flag: string) => (launch: Launch) => {
  const variables = Object.entries(launch.env ?? {}).flatMap(([name, value]) => [flag, `${name}=${value}`]);
  return terminalLine([...words, SERVER_NAME, ...variables], launch);
};

const opencode = ({ command, args, env }: Launch) => {
  const server = { type: 'local', command: [command, ...args], ...(env && { environment: env }) };
  return pretty({ mcp: { [SERVER_NAME]: server } });
};

/** Gemini CLI, and Qwen Code, which comes from it. Their command line reads what follows `--` as unknown. */
const geminiLike = (label: string, target: string): ClientFormat => ({
  label,
  target,
  text: json('mcpServers'),
  unattended: { target, text: json('mcpServers', { trust: true }) },
});

export const CLIENTS: readonly ClientFormat[] = [
  { label: 'Claude Code', target: TERMINAL, text: add(['claude', 'mcp', 'add', '--scope', 'user'], '-e') },
  {
    label: 'Codex',
    target: TERMINAL,
    text: add(['codex', 'mcp', 'add'], '--env'),
    unattended: { target: '~/.codex/config.toml', text: toml },
  },
  { label: 'Cursor', target: '~/.cursor/mcp.json', text: json('mcpServers') },
  { label: 'Windsurf', target: '~/.codeium/windsurf/mcp_config.json', text: json('mcpServers') },
  geminiLike('Gemini CLI', '~/.gemini/settings.json'),
  { label: 'Copilot CLI', target: TERMINAL, text: add(['copilot', 'mcp', 'add'], '--env') },
  { label: 'opencode', target: '~/.config/opencode/opencode.json', text: opencode },
  geminiLike('Qwen Code', '~/.qwen/settings.json'),
  {
    label: 'VS Code (GitHub Copilot)',
    target: '.vscode/mcp.json',
    text: (launch) => json('servers')(withHome(launch, '${userHome}')),
  },
];

/** For files that a team shares. @param variable as the client of the file writes it */
export function withHome(launch: Launch, variable: string): Launch {
  const home = os.homedir();
  const shared = (word: string) => (word.startsWith(home) ? variable + word.slice(home.length) : word);
  return { ...launch, command: shared(launch.command), args: launch.args.map(shared) };
}

const hooks = (event: string, entry: object) => pretty({ hooks: { [event]: [entry] } });

/** Most clients have a list of handlers in an entry. */
const hookEntry = (event: string, handler: object) =>
  hooks(event, { hooks: [{ type: 'command', ...handler }] });

/** In Windows, Claude Code and Qwen Code run a hook in the shell that it names, and Gemini CLI and Copilot CLI in PowerShell. */
const withShell = (command: string) => ({
  command,
  ...(process.platform === 'win32' && { shell: 'powershell' }),
});

export const HOOKS: readonly ClientFormat[] = [
  {
    label: 'Claude Code',
    target: '~/.claude/settings.json',
    text: (launch) => hookEntry('UserPromptSubmit', withShell(hookLine(launch, 'claude-code'))),
  },
  {
    label: 'Codex',
    target: '~/.codex/hooks.json',
    text: (launch) => hookEntry('UserPromptSubmit', { command: encodedHookLine(launch, 'codex') }),
  },
  {
    label: 'Gemini CLI',
    target: '~/.gemini/settings.json',
    text: (launch) => hookEntry('BeforeAgent', { command: hookLine(launch, 'gemini-cli') }),
  },
  {
    label: 'Qwen Code',
    target: '~/.qwen/settings.json',
    text: (launch) => hookEntry('UserPromptSubmit', withShell(hookLine(launch, 'qwen-code'))),
  },
  {
    // Copilot CLI reads the file and its format, too.
    label: 'VS Code, Copilot CLI',
    target: '.github/hooks/hosted-postgres.json',
    text: (launch) => {
      const entry = { type: 'command', command: hookLine(launch, 'VS Code') };
      return pretty({ version: 1, hooks: { UserPromptSubmit: [entry] } });
    },
  },
];
