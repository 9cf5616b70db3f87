/**
 * Copy MCP Configuration for…: copies what an agent's configuration needs to start the MCP server, or to mark a moment before each
 * turn.
 */
import { l10n, ThemeIcon, workspace, type WorkspaceFolder } from 'vscode';
import {
  MCP_CLIENTS,
  AGENT_APPROVALS,
  AGENT_HOOKS,
  MCP_SERVER_NAME,
  TERMINAL_TARGET,
  withHome,
  type ClientFormat,
} from '../clientFormats.ts';
import { MCP_FILE, writeMcpFile } from './writeMcpFile.ts';
import type { Command } from '../../commandSupport/context.ts';
import { copyText } from '../../window/ui/input/dialogs.ts';
import { singleStep } from '../../window/ui/input/multiStepInput.ts';
import { pickOne, type Choice } from '../../window/ui/input/quickInput.ts';

type Copied = Pick<ClientFormat, 'target' | 'text'>;

const targetText = (target: string): string =>
  target === TERMINAL_TARGET ? l10n.t('command for a terminal') : target;

export const copyConfiguration: Command = async ({ agentBridge }, _argument, run) => {
  run.failureMessage = l10n.t("Couldn't copy the configuration");
  const chosen = await singleStep(
    l10n.t('Copy MCP Configuration'),
    pickOne({ placeholder: l10n.t('For which agent?'), items: choices() }),
  );
  if (chosen === undefined) return;
  const copied = 'uri' in chosen ? chosen : await pickApproval(chosen);
  if (copied === undefined) return;
  // From now on, the windows listen for agents.
  const launch = await (await agentBridge()).enable();
  if ('uri' in copied) {
    run.failureMessage = l10n.t("Couldn't write {0}", MCP_FILE);
    const home = process.platform === 'win32' ? '${USERPROFILE}' : '${HOME}';
    return await writeMcpFile(copied, MCP_SERVER_NAME, withHome(launch, home));
  }
  const { text, target } = copied;
  const done =
    target === TERMINAL_TARGET
      ? l10n.t('Copied. Run it in a terminal.')
      : l10n.t('Copied. Add it to {0}.', target);
  await copyText(text(launch), done);
};

const unattendedLabel = (client: string): string =>
  l10n.t('{0} asks about nothing, also for unattended work', client);
const stillAsked = (): string =>
  l10n.t("VS Code still asks you before an agent changes what it didn't create.");

function choices(): Choice<ClientFormat | WorkspaceFolder>[] {
  const folders = workspace.isTrusted ? (workspace.workspaceFolders ?? []) : [];
  return [
    ...folders.map((folder) => ({
      label: l10n.t('Add to {0}', `${folder.name}/${MCP_FILE}`),
      iconPath: new ThemeIcon('go-to-file'),
      description: l10n.t('for Claude Code; shows the difference first'),
      value: folder,
    })),
    ...MCP_CLIENTS.map((client) => ({
      label: client.label,
      description: targetText(client.target),
      value: client,
    })),
    ...AGENT_APPROVALS.map((approval) => ({
      label: unattendedLabel(approval.label),
      description: approval.target,
      detail: stillAsked(),
      value: approval,
    })),
    ...AGENT_HOOKS.map((hook) => ({
      label: l10n.t('{0}: a moment for Undo before each turn', hook.label),
      description: hook.target,
      value: hook,
    })),
  ];
}

/** Asks whether the client may ask the user. While no user is there, a client refuses what it would ask about. */
async function pickApproval({ label, target, text, unattended }: ClientFormat): Promise<Copied | undefined> {
  if (unattended === undefined) return { target, text };
  const items: Choice<Copied>[] = [
    {
      label: l10n.t('{0} asks before its calls', label),
      description: targetText(target),
      value: { target, text },
    },
    {
      label: unattendedLabel(label),
      description: targetText(unattended.target),
      detail: stillAsked(),
      value: unattended,
    },
  ];
  return await singleStep(
    l10n.t('Copy MCP Configuration'),
    pickOne({ placeholder: l10n.t('When should the agent ask you?'), items }),
  );
}
