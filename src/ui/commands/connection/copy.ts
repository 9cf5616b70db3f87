/** Copies ids, hosts and connection strings to the clipboard. */
import { env, l10n, window } from 'vscode';
import { asBranchNode, asProjectNode } from '../../../model/inventory/nodes.ts';
import { announce } from '../../notifications/announce.ts';
import { sanitize } from '../../text/sanitize.ts';
import type { Command } from '../context.ts';
import { pickCompute } from '../input/pickers.ts';
import { askForUri } from './connectionString.ts';
import { pickHost, pickRecord } from './host.ts';

async function copy(text: string, announcement: string): Promise<void> {
  await env.clipboard.writeText(text);
  announce(announcement);
}

/** Copies the id of a project, branch or compute. From the palette, of a compute. */
export const copyId: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't copy the id");
  const parent = asBranchNode(argument)?.branchId ?? asProjectNode(argument)?.projectId;
  const id = parent ?? (await pickCompute(context, l10n.t('Copy Id'), argument))?.computeId;
  if (id !== undefined) await copy(id, l10n.t('Copied {0}', id));
};

export const copyHost: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't copy the host");
  const host = await pickHost(context, l10n.t('Copy Host'), argument);
  if (host !== undefined) await copy(host, l10n.t('Copied {0}', sanitize(host)));
};

export const copyConnectionString: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't copy the connection string");
  const title = l10n.t('Copy Connection String');
  const compute = await pickRecord(context, title, argument);
  const scope = window.activeTextEditor?.document.uri;
  const result = compute && (await askForUri(context, { title, compute, scope }));
  if (result === undefined) return;
  const announcement = result.hasPassword
    ? l10n.t('Copied the connection string with its password')
    : l10n.t('Copied the connection string with a placeholder for the password');
  await copy(result.uri, announcement);
};
