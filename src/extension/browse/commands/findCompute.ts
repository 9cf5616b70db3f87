/** Find Compute…: finds computes and branches by name, id, branch or project, and reveals one in the tree. */
import { l10n } from 'vscode';
import { branchIdsOf } from '../../inventory/branchStatus.ts';
import { projectName } from '../../inventory/names.ts';
import { branchIcon, branchLabel } from '../../inventory/ui/branchText.ts';
import type { Inventory } from '../../inventory/inventory.ts';
import type { Command, CommandContext } from '../../commandSupport/context.ts';
import {
  computeItems,
  pickerRowId,
  loadComputeItems,
  MAX_PRELOADED,
  type PickerRow,
  type PickerItem,
} from '../../commandSupport/pickers.ts';
import { askInSteps, type Ask } from '../../window/ui/input/multiStepInput.ts';
import { pickOne } from '../../window/ui/input/quickInput.ts';

export const findCompute: Command = async (context, _argument, run) => {
  context.session.requireConnection();
  run.failureMessage = l10n.t("Couldn't load the computes");
  const found = await askInSteps(l10n.t('Find Compute'), (ask) => askForRow(context, ask));
  if (found !== undefined) await context.computesView.reveal(found);
};

async function askForRow(context: CommandContext, ask: Ask): Promise<PickerRow> {
  const { inventory } = context;
  const branches = {
    items: () =>
      [...(inventory.projects?.entries.keys() ?? [])].flatMap((id) => branchesWithoutComputes(inventory, id)),
    load: (ids: readonly string[]) => inventory.loadBranchesOf(ids),
  };
  const items = (show: (items: readonly PickerItem[]) => void) =>
    loadComputeItems(context, () => true, show, branches);
  const none = l10n.t('No computes');
  await inventory.ensureProjects();
  const projects = [...(inventory.projects?.entries.keys() ?? [])];
  const loaded = projects.filter((id) => inventory.computesOf(id)?.isLoaded === true).length;
  const byWhat = l10n.t('Search by name, id, branch or project');
  const placeholder =
    projects.length > MAX_PRELOADED
      ? l10n.t('Searches {0} of {1} projects. Select another one to search in it', loaded, projects.length)
      : byWhat;
  const row = await ask<PickerRow>(pickOne({ placeholder, none, items, idOf: pickerRowId }), {
    following: 0,
  });
  // In a large account, projects are searched only once they were opened.
  if (row.kind !== 'project') return row;
  const { projectId } = row;
  const itemsOfProject = async () => {
    await Promise.all([inventory.loadComputes(projectId), inventory.branches.ensureLoaded(projectId)]);
    const computes = computeItems(context, ({ project_id }) => project_id === projectId);
    return [...computes, ...branchesWithoutComputes(inventory, projectId)];
  };
  return await ask<PickerRow>(
    pickOne({ placeholder: byWhat, none, items: itemsOfProject, idOf: pickerRowId }),
  );
}

/** Returns the branches without computes. The others are found by their computes. */
function branchesWithoutComputes(inventory: Inventory, projectId: string): readonly PickerItem[] {
  const computes = inventory.computesOf(projectId);
  if (computes?.isLoaded !== true) return [];
  const ids = branchIdsOf(inventory, projectId).filter((id) => !computes.branches().has(id));
  return ids.map((branchId) => {
    const branch = inventory.branches.get(projectId, branchId);
    return {
      label: branchLabel(branchId, branch),
      iconPath: branchIcon(branch),
      description: l10n.t('no computes'),
      detail: projectName(inventory, projectId),
      value: { kind: 'branch', projectId, branchId },
    };
  });
}
