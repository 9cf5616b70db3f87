/** Edit Compute…: asks what is to change, says what that does to connections, and sends only what differs. */
import { commands, l10n, Uri } from 'vscode';
import { changeEffect } from '../../../api/records/effects.ts';
import type { Compute } from '../../../api/records/records.ts';
import type { ComputeChange } from '../../../api/records/requests.ts';
import { onlyChanged } from '../../../model/operations/computeEdit.ts';
import { labelOf, sizeText } from '../../../model/inventory/computeStatus.ts';
import { asComputeNode } from '../../../model/inventory/nodes.ts';
import { settingsUri } from '../../../model/settings/settingsUri.ts';
import { announce } from '../../notifications/announce.ts';
import { effectText } from '../../text/effectText.ts';
import { sanitize } from '../../text/sanitize.ts';
import { requireConnection } from '../input/pickers.ts';
import { confirm } from '../input/confirm.ts';
import type { Command, CommandContext } from '../context.ts';
import { askForEdit } from './editQuestions.ts';
import { withProgress } from '../input/progress.ts';

export const edit: Command = async (context, argument, run) => {
  requireConnection(context);
  run.couldNot = l10n.t('Could not edit the compute');
  const wanted = await askForEdit(context, asComputeNode(argument));
  if (wanted === undefined) return;
  const name = sanitize(labelOf(wanted.compute));
  run.couldNot = l10n.t('Could not change {0}', name);
  if (wanted.edited === 'settings') return await openSettings(context, wanted.compute);
  const { project_id: projectId, branch_id: branchId, id: computeId } = wanted.compute;
  // What the service told last may be newer than what the questions began with.
  const current = context.inventory.compute(projectId, computeId) ?? wanted.compute;
  const change = onlyChanged(current, wanted.change);
  if (change === undefined) {
    announce(l10n.t('{0} is like that already; nothing was changed', name), 'info');
    return;
  }
  if (!(await confirmEffect(current, change))) return;
  const node = { kind: 'compute', projectId, branchId, computeId } as const;
  const { isPending } = await withProgress(l10n.t('Changing {0}', name), (options) =>
    context.changes.update(node, change, options),
  );
  // What is pending is told by the status bar, now and when it ends.
  if (!isPending) announce(l10n.t('{0} is changed', name));
};

/** @returns whether to go on: at once where connections do not notice (section 3.2, rule 4) */
async function confirmEffect(compute: Compute, change: ComputeChange): Promise<boolean> {
  const effect = changeEffect(compute, change);
  const detail = effectText(effect, change.branch_id);
  if (detail === undefined) return true;
  const name = sanitize(labelOf(compute));
  switch (effect) {
    case 'disable':
      return await confirm(l10n.t('Disable {0}?', name), detail, l10n.t('Disable'));
    case 'move':
      return await confirm(l10n.t('Move {0} to {1}?', name, change.branch_id ?? ''), detail, l10n.t('Move'));
    case 'restart':
    case 'none':
      return await confirm(
        l10n.t('Change the size of {0} to {1}?', name, sizeText({ ...compute, ...change })),
        detail,
        l10n.t('Change and Restart'),
      );
    default:
      return effect satisfies never;
  }
}

async function openSettings({ session }: CommandContext, compute: Compute): Promise<void> {
  const account = session.connection?.account;
  if (account === undefined) return;
  const node = { projectId: compute.project_id, computeId: compute.id };
  await commands.executeCommand('vscode.open', Uri.from(settingsUri(account, node)));
}
