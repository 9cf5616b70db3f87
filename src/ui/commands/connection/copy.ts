/** What leaves for the clipboard: hosts and connection strings. */
import { env, l10n, window } from 'vscode';
import { asBranchNode, asComputeNode, asProjectNode } from '../../../model/inventory/nodes.ts';
import { announce } from '../../notifications/announce.ts';
import { sanitize } from '../../text/sanitize.ts';
import { pickCompute } from '../input/pickers.ts';
import { askForUri } from './connectionString.ts';
import type { Command } from '../context.ts';
import { askForHost, computeOf } from './host.ts';

async function copied(text: string, words: string): Promise<void> {
  await env.clipboard.writeText(text);
  announce(words);
}

/** What other tools ask for: the id of a project, a branch or a compute; from the palette, of a compute. */
export const copyId: Command = async (context, argument, run) => {
  run.couldNot = l10n.t('Could not copy the id');
  const group = asBranchNode(argument) ?? asProjectNode(argument);
  const node = group ?? (await pickCompute(context, l10n.t('Copy Id'), asComputeNode(argument)));
  if (node === undefined) return;
  const id =
    node.kind === 'compute' ? node.computeId : node.kind === 'branch' ? node.branchId : node.projectId;
  await copied(id, l10n.t('Copied {0}', id));
};

export const copyHost: Command = async (context, argument, run) => {
  run.couldNot = l10n.t('Could not copy the host');
  const host = await askForHost(context, l10n.t('Copy Host'), argument);
  if (host !== undefined) await copied(host, l10n.t('Copied {0}', sanitize(host)));
};

export const copyConnectionString: Command = async (context, argument, run) => {
  run.couldNot = l10n.t('Could not copy the connection string');
  const title = l10n.t('Copy Connection String');
  const compute = await computeOf(context, title, argument);
  const scope = window.activeTextEditor?.document.uri;
  const made = compute && (await askForUri(context, { title, compute, scope }));
  if (made === undefined) return;
  const words = made.hasPassword
    ? l10n.t('Copied the connection string, with its password')
    : l10n.t('Copied the connection string; put the password in its place');
  await copied(made.uri, words);
};
