/** Shows what is pending, and the history of operations as a document. */
import { commands, l10n, ThemeIcon, Uri, window } from 'vscode';
import { fieldsOf } from '../../../base/fieldsOf.ts';
import type { Command, CommandContext } from '../../commandSupport/context.ts';
import { onlyProject } from '../../commandSupport/pickers.ts';
import { projectName } from '../../inventory/names.ts';
import { asBranchNode, asComputeNode, asProjectNode } from '../../inventory/nodes.ts';
import type { PendingChange } from '../../operations/pendingChange.ts';
import { operationsText, pendingText } from '../../operations/ui/changeText.ts';
import { singleStep } from '../../window/ui/input/multiStepInput.ts';
import { pickOne, type Choice } from '../../window/ui/input/quickInput.ts';
import { documentTitle } from '../../inventory/names.ts';
import { operationsUri } from '../details.ts';
import { OPERATIONS_SCHEME } from '../detailsScheme.ts';

type Picked = { readonly pending: PendingChange } | { readonly projectId: string };

/**
 * Opens the history of the row's compute or project. Without a row, also lists the pending operations, and reveals the
 * compute of the one that the user picks.
 */
export const showOperations: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't show the operations");
  const row = asComputeNode(argument);
  const projectId = (asBranchNode(argument) ?? asProjectNode(argument))?.projectId;
  if (row !== undefined) return await openHistory(context, row);
  if (projectId !== undefined) return await openHistory(context, { kind: 'project', projectId });
  context.session.requireConnection();
  const picked = await pickHistory(context);
  if (picked === undefined) return;
  if ('pending' in picked) await context.computesView.reveal(picked.pending);
  else await openHistory(context, { kind: 'project', projectId: picked.projectId });
};

async function pickHistory(context: CommandContext): Promise<Picked | undefined> {
  const { tracker, inventory } = context;
  const pending: Choice<Picked>[] = tracker.pending.map((change) => ({
    label: pendingText(change),
    iconPath: new ThemeIcon('sync~spin'),
    description: operationsText(change),
    value: { pending: change },
  }));
  const only = await onlyProject(context);
  if (pending.length === 0 && only !== undefined) return { projectId: only };
  const projects = [...(inventory.projects?.entries.keys() ?? [])].map((projectId): Choice<Picked> => ({
    label: l10n.t('History of {0}', projectName(inventory, projectId)),
    iconPath: new ThemeIcon('history'),
    description: projectId,
    value: { projectId },
  }));
  const placeholder =
    pending.length === 0
      ? l10n.t('Select a project to show its operations')
      : l10n.t('Select an operation to show its compute');
  const none = l10n.t('No pending operations');
  return await singleStep(
    l10n.t('Operations'),
    pickOne<Picked>({ placeholder, none, items: [...pending, ...projects] }),
  );
}

/** Opens the history in the Markdown preview, which shows its tables and pictures. If one is open, it is read again. */
async function openHistory(
  { session, inventory, documents }: CommandContext,
  node: Parameters<typeof operationsUri>[1],
): Promise<void> {
  const title = documentTitle(inventory, node);
  const uri = Uri.from(operationsUri(session.requireConnection().accountId, node, title));
  documents.operationsChanged.fire(uri);
  await commands.executeCommand('vscode.openWith', uri, 'vscode.markdown.preview.editor', { preview: false });
}

/** Reads the history in the active editor again, from a button in its title. */
export const refreshOperations: Command = ({ documents }) => {
  // The document may be open as a preview or as text.
  const { uri } = fieldsOf(window.tabGroups.activeTabGroup.activeTab?.input);
  if (uri instanceof Uri && uri.scheme === OPERATIONS_SCHEME) documents.operationsChanged.fire(uri);
};
