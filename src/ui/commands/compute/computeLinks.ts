/**
 * Copy Link and Open Link…. A link comes from anywhere: it can point at a compute, and that is all. It never switches
 * the account, changes nothing and is told nothing.
 */
import { commands, env, l10n, window } from 'vscode';
import {
  computeLink,
  isForAccount,
  parseComputeLink,
  type ComputeLink,
} from '../../../model/inventory/computeLink.ts';
import { asComputeNode } from '../../../model/inventory/nodes.ts';
import { announce } from '../../notifications/announce.ts';
import { sanitize } from '../../text/sanitize.ts';
import { pickCompute } from '../input/pickers.ts';
import type { Command, CommandContext } from '../context.ts';
import { askText } from '../input/quickInput.ts';

export const copyLink: Command = async (context, argument, run) => {
  run.couldNot = l10n.t('Could not copy the link');
  const node = await pickCompute(context, l10n.t('Copy Link'), asComputeNode(argument));
  const account = context.session.connection?.account;
  if (node === undefined || account === undefined) return;
  await env.clipboard.writeText(computeLink(env.uriScheme, account, node));
  announce(l10n.t('Copied the link to {0}', node.computeId));
};

/** @param argument the link; asked for without one, where the operating system does not bring links here */
export const openLink: Command = async (context, argument, run) => {
  run.couldNot = l10n.t('Could not open the link');
  const text = typeof argument === 'string' ? argument : await askForLink();
  if (text === undefined) return;
  const link = parseComputeLink(text);
  if (link === undefined) throw new Error(noLink());
  // A link may be what opened the window: then the secret store has not answered yet.
  await context.session.whenRead();
  const account = context.session.connection?.account;
  if (account === undefined) {
    const words = l10n.t('The link leads to {0}. Connect to its service first.', link.computeId);
    return offer(words, l10n.t('Connect…'), 'hostedPostgres.account.connect');
  }
  if (!isForAccount(link, account)) {
    const words = l10n.t(
      'The link leads to {0} at another service, {1}. Switch to an account there, then open it again.',
      link.computeId,
      link.service === 'local' ? l10n.t('the local service') : sanitize(link.service ?? ''),
    );
    return offer(words, l10n.t('Switch Account…'), 'hostedPostgres.account.switch');
  }
  await reveal(context, link);
};

async function reveal({ inventory, computesView }: CommandContext, link: ComputeLink): Promise<void> {
  const { projectId, computeId } = link;
  await inventory.loadComputes(projectId);
  // The link may be younger than what was loaded.
  if (inventory.compute(projectId, computeId) === undefined) await inventory.refreshComputes(projectId);
  const compute = inventory.compute(projectId, computeId);
  if (compute === undefined) throw new Error(l10n.t('{0} is no longer there.', computeId));
  await inventory.projects?.firstPage();
  if (inventory.projects?.entries.has(projectId) !== true) await inventory.projects?.load();
  await computesView.reveal({ kind: 'compute', projectId, branchId: compute.branch_id, computeId });
}

async function askForLink(): Promise<string | undefined> {
  const text = await askText(
    { title: l10n.t('Open Link'), step: 1, steps: 1, canGoBack: false },
    {
      prompt: l10n.t('A link to a compute, as Copy Link makes it'),
      placeholder: 'vscode://hosted-postgres.hosted-postgres/compute?…',
      problem: (typed) =>
        typed === '' || parseComputeLink(typed.trim()) !== undefined ? undefined : noLink(),
    },
  );
  return typeof text === 'string' && text !== '' ? text.trim() : undefined;
}

const noLink = (): string => l10n.t('This is not a link to a compute.');

function offer(words: string, action: string, command: string): void {
  // Not awaited: the command has ended when it has said what it can.
  void window.showWarningMessage(words, action).then((chosen) => {
    if (chosen === action) void commands.executeCommand(command);
  });
}
