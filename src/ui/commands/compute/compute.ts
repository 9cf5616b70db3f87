/** Create, restart and delete computes. */
import { l10n } from 'vscode';
import type { Compute } from '../../../api/records/records.ts';
import { asComputeNode, type ComputeNode } from '../../../model/inventory/nodes.ts';
import { labelOf } from '../../../model/inventory/computeStatus.ts';
import { announce } from '../../notifications/announce.ts';
import { sanitize } from '../../text/sanitize.ts';
import { pickCompute, requireConnection } from '../input/pickers.ts';
import { askForCreation } from './createCompute.ts';
import { confirm } from '../input/confirm.ts';
import type { Command, CommandContext } from '../context.ts';
import { withProgress } from '../input/progress.ts';

const nameOf = (context: CommandContext, { projectId, computeId }: ComputeNode): string => {
  const compute = context.inventory.compute(projectId, computeId);
  return sanitize(compute === undefined ? computeId : labelOf(compute));
};

const isEnabled = (compute: Compute): boolean => compute.disabled !== true;

export const create: Command = async (context, argument, run) => {
  requireConnection(context);
  run.couldNot = l10n.t('Could not create the compute');
  const wanted = await askForCreation(context, argument);
  if (wanted === undefined) return;
  const { projectId, creation } = wanted;
  const made = await withProgress(l10n.t('Creating a compute'), (options) =>
    context.changes.create(projectId, creation, options),
  );
  if (made.compute === undefined) return;
  const { id: computeId, branch_id: branchId } = made.compute;
  await context.computesView.reveal({ kind: 'compute', projectId, branchId, computeId });
};

export const restart: Command = async (context, argument, run) => {
  const given = asComputeNode(argument);
  const node = await pickCompute(context, l10n.t('Restart Compute'), given, isEnabled);
  if (node === undefined) return;
  const name = nameOf(context, node);
  run.couldNot = l10n.t('Could not restart {0}', name);
  const detail = l10n.t('Its connections are dropped; clients have to connect again.');
  if (!(await confirm(l10n.t('Restart {0}?', name), detail, l10n.t('Restart')))) return;
  const { isPending } = await withProgress(l10n.t('Restarting {0}', name), (options) =>
    context.changes.restart(node, options),
  );
  // What is pending is told by the status bar, now and when it ends.
  if (!isPending) announce(l10n.t('The restart of {0} was accepted', name));
};

export const deleteCompute: Command = async (context, argument, run) => {
  const given = asComputeNode(argument);
  const node = await pickCompute(context, l10n.t('Delete Compute'), given);
  if (node === undefined) return;
  const name = nameOf(context, node);
  run.couldNot = l10n.t('Could not delete {0}', name);
  const detail = l10n.t(
    'This cannot be undone. Its connections are dropped and its host stops answering; the data stays on branch {0}.',
    node.branchId,
  );
  if (!(await confirm(l10n.t('Delete {0}?', name), detail, l10n.t('Delete')))) return;
  if (given !== undefined) void goToNeighbour(context, given);
  const { isPending } = await withProgress(l10n.t('Deleting {0}', name), (options) =>
    context.changes.delete(node, options),
  );
  if (!isPending) announce(l10n.t('{0} is deleted', name));
};

/**
 * With the row the tree would lose the place where the user is, and the keyboard begin at the top again. Before the row
 * goes: by then the user may be at something else. Never rejects.
 */
async function goToNeighbour(context: CommandContext, node: ComputeNode): Promise<void> {
  const neighbour = neighbourOf(context, node);
  try {
    if (neighbour !== undefined) await context.computesView.revealById(neighbour);
  } catch (error) {
    context.log.error('Keeping the place of the keyboard', error);
  }
}

/** The compute in the row below, else the one above it, on the same branch. */
function neighbourOf({ inventory }: CommandContext, { projectId, branchId, computeId }: ComputeNode) {
  const computes = inventory.computesOf(projectId)?.branches().get(branchId) ?? [];
  const index = computes.findIndex(({ id }) => id === computeId);
  const next = computes[index + 1] ?? computes[index - 1];
  return next && { projectId, computeId: next.id };
}
