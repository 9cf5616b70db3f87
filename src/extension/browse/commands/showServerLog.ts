import { commands, l10n, Uri } from 'vscode';
import type { Command } from '../../commandSupport/context.ts';
import { pickCompute } from '../../commandSupport/pickers.ts';
import { asComputeNode } from '../../inventory/nodes.ts';
import { documentTitle } from '../../inventory/names.ts';
import { serverLogUri } from '../details.ts';

/** Shows what the Postgres of a compute has logged. If its document is open, it is read again. */
export const showServerLog: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't show the Postgres log");
  const { session, inventory, documents } = context;
  const node =
    asComputeNode(argument) ??
    asComputeNode(await pickCompute(context, l10n.t('Show Postgres Log'), argument));
  if (node === undefined) return;
  const title = documentTitle(inventory, node);
  const uri = Uri.from(serverLogUri(session.requireConnection().accountId, node, title));
  documents.detailsChanged.fire(uri);
  await commands.executeCommand('vscode.open', uri);
};
