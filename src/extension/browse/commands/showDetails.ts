import { commands, l10n, Uri, window } from 'vscode';
import { fieldsOf } from '../../../base/fieldsOf.ts';
import { asDetailsNode, detailsUri, jsonPath, detailsTitle } from '../details.ts';
import { DETAILS_SCHEME } from '../detailsScheme.ts';
import type { Command } from '../../commandSupport/context.ts';
import { pickCompute } from '../../commandSupport/pickers.ts';

/** Shows a page about a project, branch, compute or API key. The Command Palette asks for a compute. */
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
  const uri = Uri.from(detailsUri(accountId, node, detailsTitle(context, node)));
  await commands.executeCommand('vscode.openWith', uri, 'vscode.markdown.preview.editor', { preview: false });
};

/** Shows the page in the active editor as JSON, from a button in its title. */
export const showDetailsJson: Command = async () => {
  // The page may be open as a preview or as text.
  const { uri } = fieldsOf(window.tabGroups.activeTabGroup.activeTab?.input);
  if (uri instanceof Uri && uri.scheme === DETAILS_SCHEME)
    await commands.executeCommand('vscode.open', uri.with({ path: jsonPath(uri.path) }));
};
