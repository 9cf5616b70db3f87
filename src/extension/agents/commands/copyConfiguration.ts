/** Copy MCP Configuration for…: what an agent's configuration needs to start the MCP server. */
import { l10n } from 'vscode';
import type { Launch } from '../launcher.ts';
import type { Command } from '../../commandSupport/context.ts';
import { copyText } from '../../window/ui/input/dialogs.ts';
import { singleStep } from '../../window/ui/input/multiStepInput.ts';
import { pickOne } from '../../window/ui/input/quickInput.ts';

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
  { label: 'VS Code', description: '.vscode/mcp.json', configuration: json('servers') },
];

export const copyConfiguration: Command = async ({ agentBridge }, _argument, run) => {
  run.failureMessage = l10n.t("Couldn't copy the configuration");
  const items = CLIENTS.map((client) => ({ ...client, value: client }));
  const client = await singleStep(
    l10n.t('Copy MCP Configuration'),
    pickOne({ placeholder: l10n.t('For which agent?'), items }),
  );
  if (client === undefined) return;
  // The windows listen from now on.
  const launch = await (await agentBridge()).enable();
  const { configuration, description } = client;
  await copyText(configuration(launch), l10n.t('Copied. Add it to {0}.', description));
};
