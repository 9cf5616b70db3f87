import { l10n } from 'vscode';
import { asBranchNode, asProjectNode } from '../../model/inventory/nodes.ts';
import type { Command, CommandContext } from './context.ts';
import { copyText } from './input/dialogs.ts';
import { pickCompute } from './input/pickers.ts';
import { window } from '../window.ts';

/** Refreshes everything visible, or one project. */
export const refresh: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't refresh");
  const { session, inventory } = context;
  await window.withProgress({ location: { viewId: 'hostedPostgres.computes' } }, async () => {
    if (session.connection === undefined) return await session.reread();
    const project = asProjectNode(argument);
    if (project !== undefined) {
      const named = inventory.branches.refresh(project.projectId);
      await Promise.all([inventory.refreshComputes(project.projectId), named]);
      return;
    }
    await refreshAll(context);
  });
};

/** @throws {ApiError} */
export async function refreshAll({ inventory, apiKeys, computesView }: CommandContext): Promise<void> {
  // Only if the keys were shown before. Their view shows the failure.
  const keys = apiKeys.wasRequested ? apiKeys.refresh().catch(() => undefined) : undefined;
  await Promise.all([inventory.refreshAll(computesView.expandedProjects), keys]);
}

/** Copies the id of a project, branch or compute. From the palette, of a compute. */
export const copyId: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't copy the id");
  const parent = asBranchNode(argument)?.branchId ?? asProjectNode(argument)?.projectId;
  const id = parent ?? (await pickCompute(context, l10n.t('Copy Id'), argument))?.computeId;
  if (id !== undefined) await copyText(id, l10n.t('Copied {0}', id));
};

const changeOrder =
  (areNamesFirst: boolean): Command =>
  async ({ nameOrder, computesView }) => {
    await nameOrder.change(areNamesFirst);
    computesView.redraw();
  };

export const showNamesFirst = changeOrder(true);
export const showIdsFirst = changeOrder(false);
