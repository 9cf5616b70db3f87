/** Find Compute…: finds computes by name, id, branch or project and reveals one in the tree. */
import { l10n, type QuickPickItem } from 'vscode';
import type { ComputeNode, ProjectNode } from '../../../model/inventory/nodes.ts';
import { sanitize } from '../../text/sanitize.ts';
import { askCompute, computeChoice, requireConnection } from '../input/pickers.ts';
import type { Command, CommandContext } from '../context.ts';
import { mapAnswer, runSteps } from '../input/multiStepInput.ts';
import { pickOne } from '../input/quickInput.ts';

/** With more projects than this, computes are loaded only for the project that the user picks. */
const MOST_LOADED = 50;

type Found = ProjectNode | ComputeNode;

interface FoundItem extends QuickPickItem {
  readonly value: Found;
}

export const find: Command = async (context, _argument, run) => {
  requireConnection(context);
  run.failureMessage = l10n.t("Couldn't find computes");
  const found = await runSteps<Found | undefined>(l10n.t('Find Compute'), undefined, [
    {
      ask: async (page) => {
        const placeholder = l10n.t('Search by name, id, branch or project');
        return mapAnswer(
          await pickOne(page, { placeholder, items: foundItems(context) }),
          (item) => item.value,
        );
      },
    },
    {
      applies: (state) => state?.kind === 'project',
      ask: (page, state) => askCompute(context, page, state?.projectId ?? ''),
    },
  ]);
  if (found?.kind === 'compute') await context.computesView.reveal(found);
};

async function foundItems({ inventory }: CommandContext): Promise<FoundItem[]> {
  await inventory.projects?.load();
  const projects = [...(inventory.projects?.entries.values() ?? [])];
  const ids = projects.map(({ id }) => id);
  if (projects.length <= MOST_LOADED)
    await Promise.all([inventory.loadComputesOf(ids), inventory.ensureBranchesOf(ids)]);
  const nameOf = (id: string) => sanitize(inventory.project(id)?.name ?? id);
  const computes = [...inventory.allComputes()].map((compute) => {
    const item = computeChoice(inventory, compute);
    return { ...item, detail: [nameOf(compute.project_id), item.detail].join(' · ') };
  });
  const unloaded = projects.filter(({ id }) => inventory.computesOf(id)?.isLoaded !== true);
  const projectItems = unloaded.map(({ id }): FoundItem => ({
    label: `$(project) ${nameOf(id)}`,
    description: id,
    value: { kind: 'project', projectId: id },
  }));
  return [...computes, ...projectItems];
}
