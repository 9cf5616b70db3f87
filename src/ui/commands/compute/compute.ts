/** Create, restart and delete computes. */
import { l10n } from 'vscode';
import type { Compute } from '../../../api/records/records.ts';
import { asComputeNode, type ComputeNode } from '../../../model/inventory/nodes.ts';
import { announce } from '../../notifications/announce.ts';
import { approve } from '../../notifications/approval.ts';
import { branchLabel } from '../../text/branchText.ts';
import { effectText } from '../../text/effectText.ts';
import { nameOrId } from '../../text/sanitize.ts';
import type { Command, CommandContext } from '../context.ts';
import { showCreated } from '../showCreated.ts';
import { withProgress } from '../input/dialogs.ts';
import { nodeLabel, pickCompute, requireConnection } from '../input/pickers.ts';
import { askForCreation } from './createCompute.ts';

const isEnabled = (compute: Compute): boolean => compute.disabled !== true;

export const create: Command = async (context, argument, run) => {
  requireConnection(context);
  run.failureMessage = l10n.t("Couldn't create the compute");
  const answers = await askForCreation(context, argument);
  if (answers === undefined) return;
  const { projectId, creation } = answers;
  const { branch_id: onBranch } = creation;
  const name = nameOrId(context.inventory.project(projectId)?.name, projectId);
  const question = l10n.t('Create a compute in {0}?', name);
  const target = { projectId, branchId: onBranch, name };
  if (
    !(await approve(context.guards, { ...target, question, button: l10n.t('Create') }, run.initialConnection))
  )
    return;
  const { compute, isPending } = await withProgress(l10n.t('Creating a compute'), (options) =>
    context.changes.create(projectId, creation, options),
  );
  if (compute === undefined) return;
  const { id: computeId, branch_id: branchId } = compute;
  // The status bar shows a pending change and its end.
  if (!isPending) announce(l10n.t('Created {0}', nameOrId(compute.name, computeId)));
  await showCreated(context, { kind: 'compute', projectId, branchId, computeId });
};

export const restart: Command = async (context, argument, run) => {
  const node = await pickCompute(context, l10n.t('Restart Compute'), argument, isEnabled);
  if (node === undefined) return;
  const name = nodeLabel(context, node);
  run.failureMessage = l10n.t("Couldn't restart {0}", name);
  const detail = effectText('restart');
  const question = l10n.t('Restart {0}?', name);
  if (
    !(await approve(
      context.guards,
      { ...node, name, question, detail, button: l10n.t('Restart') },
      run.initialConnection,
    ))
  )
    return;
  const { isPending } = await withProgress(l10n.t('Restarting {0}', name), (options) =>
    context.changes.restart(node, options),
  );
  // The status bar shows a pending change and its end.
  if (!isPending) announce(l10n.t('Restarted {0}', name));
};

export const deleteCompute: Command = async (context, argument, run) => {
  const node = await pickCompute(context, l10n.t('Delete Compute'), argument);
  if (node === undefined) return;
  const name = nodeLabel(context, node);
  run.failureMessage = l10n.t("Couldn't delete {0}", name);
  const detail = l10n.t(
    "This can't be undone. Its connections are dropped and its host stops responding. The data stays on branch {0}.",
    branchLabel(node.branchId, context.inventory.branches.get(node.projectId, node.branchId)),
  );
  const question = l10n.t('Delete {0}?', name);
  if (
    !(await approve(
      context.guards,
      { ...node, name, question, detail, button: l10n.t('Delete') },
      run.initialConnection,
    ))
  )
    return;
  const isFromTree = asComputeNode(argument) !== undefined;
  if (isFromTree) void revealNeighbor(context, node);
  const { isPending } = await withProgress(l10n.t('Deleting {0}', name), (options) =>
    context.changes.delete(node, options),
  );
  if (!isPending) announce(l10n.t('Deleted {0}', name));
};

/**
 * Deleting the selected row would move the keyboard focus to the top of the tree. Called before the row disappears,
 * because afterwards the user may be doing something else. Never rejects.
 */
async function revealNeighbor(context: CommandContext, node: ComputeNode): Promise<void> {
  const neighbor = neighborOf(context, node);
  try {
    if (neighbor !== undefined) await context.computesView.revealById(neighbor);
  } catch (error) {
    context.log.error('Keeping the keyboard focus', error);
  }
}

/** The compute below on the same branch, or else the one above. */
function neighborOf({ inventory }: CommandContext, { projectId, branchId, computeId }: ComputeNode) {
  const computes = inventory.computesOf(projectId)?.branches().get(branchId) ?? [];
  const index = computes.findIndex(({ id }) => id === computeId);
  const next = computes[index + 1] ?? computes[index - 1];
  return next && { projectId, computeId: next.id };
}
