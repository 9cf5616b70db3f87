import { commands, l10n, Uri } from 'vscode';
import { asDetailsNode, detailsUri } from '../details.ts';
import type { Command } from '../../commandSupport/context.ts';
import { pickCompute } from '../../commandSupport/pickers.ts';

/** Shows all fields of a project, branch, compute or API key. The Command Palette asks for a compute. */
export const showDetails: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't show the details");
  const { inventory, apiKeys, session, whyActiveSentences } = context;
  const title = l10n.t('Show Details');
  const node = asDetailsNode(argument) ?? asDetailsNode(await pickCompute(context, title, argument));
  if (node === undefined) return;
  const { accountId } = session.requireConnection();
  if (node.kind === 'compute') whyActiveSentences.forget(node.computeId);
  if (node.kind === 'apiKey') await apiKeys.refresh();
  else
    await Promise.all([
      inventory.refreshComputes(node.projectId),
      inventory.branches.refresh(node.projectId),
    ]);
  await commands.executeCommand('vscode.open', Uri.from(detailsUri(accountId, node)));
};
