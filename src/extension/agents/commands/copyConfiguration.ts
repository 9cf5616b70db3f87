/** Copy MCP Configuration for…: what an agent's configuration needs to start the MCP server, or to mark a moment before each turn. */
import { l10n, ThemeIcon, workspace, type WorkspaceFolder } from 'vscode';
import { shellQuote } from '../shellQuote.ts';
import type { Launch } from '../launcher.ts';
import { MCP_FILE, writeMcpFile } from './writeMcpFile.ts';
import type { Command } from '../../commandSupport/context.ts';
import { copyText } from '../../window/ui/input/dialogs.ts';
import { singleStep } from '../../window/ui/input/multiStepInput.ts';
import { pickOne, type Choice } from '../../window/ui/input/quickInput.ts';

interface Client {
  readonly label: string;
  /** The file of its configuration. */
  readonly description: string;
  readonly configuration: (launch: Launch) => string;
}

const NAME = 'hosted-postgres';

const json = (key: string) => (launch: Launch) => JSON.stringify({ [key]: { [NAME]: launch } }, null, 2);

const toml = ({ command, args }: Launch) =>
  [
    `[mcp_servers.${NAME}]`,
    `command = ${JSON.stringify(command)}`,
    `args = ${JSON.stringify(args)}`,
    '',
  ].join('\n');

const CLIENTS: readonly Client[] = [
  { label: 'Claude Code', description: '.mcp.json', configuration: json('mcpServers') },
  { label: 'Codex', description: '~/.codex/config.toml', configuration: toml },
  { label: 'Cursor', description: '~/.cursor/mcp.json', configuration: json('mcpServers') },
  {
    label: 'Windsurf',
    description: '~/.codeium/windsurf/mcp_config.json',
    configuration: json('mcpServers'),
  },
  { label: 'VS Code (GitHub Copilot)', description: '.vscode/mcp.json', configuration: json('servers') },
];

/**
 * The hook in VS Code's format, or nested, as Claude Code reads it.
 * @param agent the name that the agent has when it calls a tool
 */
const hook = (agent: string, isNested: boolean) => (launch: Launch) => {
  // A shell reads it.
  const command = [launch.command, ...launch.args, 'hook', agent].map(quoted).join(' ');
  const entry = { type: 'command', command };
  return JSON.stringify({ hooks: { UserPromptSubmit: [isNested ? { hooks: [entry] } : entry] } }, null, 2);
};

const quoted = (word: string): string => {
  if (/^[\w/.:-]+$/.test(word)) return word;
  return process.platform === 'win32' ? `"${word}"` : shellQuote(word);
};

/** A function, because texts are translated when they are shown. */
const hooks = (): readonly Client[] => [
  {
    label: l10n.t('Claude Code: a moment for Undo before each turn'),
    description: '.claude/settings.json',
    configuration: hook('claude-code', true),
  },
  {
    label: l10n.t('VS Code: a moment for Undo before each turn'),
    description: '.github/hooks/hosted-postgres.json',
    configuration: hook('VS Code', false),
  },
];

export const copyConfiguration: Command = async ({ agentBridge }, _argument, run) => {
  run.failureMessage = l10n.t("Couldn't copy the configuration");
  const folders = workspace.isTrusted ? (workspace.workspaceFolders ?? []) : [];
  const items: Choice<Client | WorkspaceFolder>[] = [
    ...folders.map((folder) => ({
      label: l10n.t('Add to {0}', `${folder.name}/${MCP_FILE}`),
      iconPath: new ThemeIcon('go-to-file'),
      description: l10n.t('for Claude Code; shows the difference first'),
      value: folder,
    })),
    ...[...CLIENTS, ...hooks()].map((client) => ({ ...client, value: client })),
  ];
  const chosen = await singleStep(
    l10n.t('Copy MCP Configuration'),
    pickOne({ placeholder: l10n.t('For which agent?'), items }),
  );
  if (chosen === undefined) return;
  // The windows listen from now on.
  const launch = await (await agentBridge()).enable();
  if ('uri' in chosen) {
    run.failureMessage = l10n.t("Couldn't write {0}", MCP_FILE);
    return await writeMcpFile(chosen, NAME, launch);
  }
  const { configuration, description } = chosen;
  await copyText(configuration(launch), l10n.t('Copied. Add it to {0}.', description));
};
