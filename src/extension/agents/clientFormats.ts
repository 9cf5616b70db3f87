/**
 * The configuration of each client of MCP and of its hooks, in the format that the versions in docs/agents.md read. If a client has a
 * command that adds the server to its configuration, that is offered, because Codex wouldn't start if a table was twice in its file.
 */
import os from 'node:os';
import { encodedHookLine, hookLine, terminalLine } from './commandLine.ts';
import type { LaunchCommand } from './launcher.ts';

export const MCP_SERVER_NAME = 'hosted-postgres';

/** The configuration of one client, and where the user puts it. */
export interface ClientFormat {
  readonly label: string;
  /** Where the text goes: a file, or the terminal. */
  readonly target: string;
  readonly text: (launch: LaunchCommand) => string;
  /**
   * A configuration with which the client doesn't ask before calls of tools. With the other one, the client refuses most tools
   * while no user is there to answer.
   */
  readonly unattended?: Pick<ClientFormat, 'target' | 'text'>;
}

/** Stands for the terminal as a target. */
export const TERMINAL_TARGET = 'terminal';

const formatJson = (value: object): string => JSON.stringify(value, undefined, 2);

const jsonFormat =
  (key: string, more: object = {}) =>
  (launch: LaunchCommand) =>
    formatJson({ [key]: { [MCP_SERVER_NAME]: { ...launch, ...more } } });

const tomlFormat = ({ command, args, env = {} }: LaunchCommand) =>
  [
    `[mcp_servers.${MCP_SERVER_NAME}]`,
    `command = ${JSON.stringify(command)}`,
    `args = ${JSON.stringify(args)}`,
    // Codex passes on only the variables that are named here.
    'env_vars = ["HOSTED_POSTGRES_DATA_DIR"]',
    'default_tools_approval_mode = "approve"',
    ...Object.entries(env).map(([name, value]) => `env.${name} = ${JSON.stringify(value)}`),
    '',
  ].join('\n');

/** @param flag the option before each variable */
const addCommandFormat = (words: readonly string[], flag: string) => (launch: LaunchCommand) => {
  const variables = Object.entries(launch.env ?? {}).flatMap(([name, value]) => [flag, `${name}=${value}`]);
  return terminalLine([...words, MCP_SERVER_NAME, ...variables], launch);
};

const opencodeFormat = ({ command, args, env }: LaunchCommand) => {
  const server = { type: 'local', command: [command, ...args], ...(env && { environment: env }) };
  return formatJson({ mcp: { [MCP_SERVER_NAME]: server } });
};

/**
 * Returns the format of Gemini CLI, and of Qwen Code, which comes from it. Their commands don't know the arguments that follow `--`, so
 * the format is that of a file.
 */
const geminiClient = (label: string, target: string): ClientFormat => ({
  label,
  target,
  text: jsonFormat('mcpServers'),
  unattended: { target, text: jsonFormat('mcpServers', { trust: true }) },
});

export const MCP_CLIENTS: readonly ClientFormat[] = [
  {
    label: 'Claude Code',
    target: TERMINAL_TARGET,
    text: addCommandFormat(['claude', 'mcp', 'add', '--scope', 'user'], '-e'),
  },
  {
    label: 'Codex',
    target: TERMINAL_TARGET,
    text: addCommandFormat(['codex', 'mcp', 'add'], '--env'),
    unattended: { target: '~/.codex/config.toml', text: tomlFormat },
  },
  { label: 'Cursor', target: '~/.cursor/mcp.json', text: jsonFormat('mcpServers') },
  { label: 'Windsurf', target: '~/.codeium/windsurf/mcp_config.json', text: jsonFormat('mcpServers') },
  geminiClient('Gemini CLI', '~/.gemini/settings.json'),
  {
    label: 'Copilot CLI',
    target: TERMINAL_TARGET,
    text: addCommandFormat(['copilot', 'mcp', 'add'], '--env'),
  },
  { label: 'opencode', target: '~/.config/opencode/opencode.json', text: opencodeFormat },
  geminiClient('Qwen Code', '~/.qwen/settings.json'),
  {
    label: 'VS Code (GitHub Copilot)',
    target: '.vscode/mcp.json',
    text: (launch) => jsonFormat('servers')(withHome(launch, '${userHome}')),
  },
];

/**
 * Rules that let a client call the tools without asking, in addition to the configuration that adds the server. Copilot CLI has only an
 * option of its command line for this: its settings allow either nothing or everything, also outside of our server.
 */
export const AGENT_APPROVALS: readonly ClientFormat[] = [
  {
    label: 'Claude Code',
    target: '~/.claude/settings.json',
    text: () => formatJson({ permissions: { allow: [`mcp__${MCP_SERVER_NAME}`] } }),
  },
];

/**
 * Replaces the home folder by a variable, for files that a team shares.
 * @param variable the variable as it is written in files of the client
 */
export function withHome(launch: LaunchCommand, variable: string): LaunchCommand {
  const home = os.homedir();
  const withVariable = (word: string) => (word.startsWith(home) ? variable + word.slice(home.length) : word);
  return { ...launch, command: withVariable(launch.command), args: launch.args.map(withVariable) };
}

const hooksFormat = (event: string, entry: object) => formatJson({ hooks: { [event]: [entry] } });

/** Returns an entry with a list of handlers, as most clients have it. */
const hookEntry = (event: string, handler: object) =>
  hooksFormat(event, { hooks: [{ type: 'command', ...handler }] });

/**
 * Adds the shell that a hook needs. On Windows, Claude Code and Qwen Code run a hook in the shell that it names, and Gemini CLI and
 * Copilot CLI in PowerShell.
 */
const withShell = (command: string) => ({
  command,
  ...(process.platform === 'win32' && { shell: 'powershell' }),
});

export const AGENT_HOOKS: readonly ClientFormat[] = [
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
      return formatJson({ version: 1, hooks: { UserPromptSubmit: [entry] } });
    },
  },
];
