/** Find Compute…: by name, id, branch or project, without opening the tree. */
import { l10n, type QuickPickItem } from 'vscode';
import type { ComputeNode, ProjectNode } from '../../../model/inventory/nodes.ts';
import { sanitize } from '../../text/sanitize.ts';
import { chooseCompute, computeItem, requireConnection } from '../input/pickers.ts';
import type { Command, CommandContext } from '../context.ts';
import { answered, runFlow } from '../input/multiStepInput.ts';
import { pickOne } from '../input/quickInput.ts';

/** With more projects than this, computes are loaded of the project that is picked, not of all. */
const PROJECTS_LOADED = 50;

type Found = ProjectNode | ComputeNode;

interface FoundItem extends QuickPickItem {
  readonly value: Found;
}

export const find: Command = async (context, _argument, run) => {
  requireConnection(context);
  run.couldNot = l10n.t('Could not find a compute');
  const found = await runFlow<Found | undefined>(l10n.t('Find Compute'), undefined, [
    {
      ask: async (page) => {
        const placeholder = l10n.t('Name, id, branch or project');
        return answered(
          await pickOne(page, { placeholder, items: foundItems(context) }),
          (item) => item.value,
        );
      },
    },
    {
      applies: (known) => known?.kind === 'project',
      ask: (page, known) => chooseCompute(context, page, known?.projectId ?? ''),
    },
  ]);
  if (found?.kind === 'compute') await context.computesView.reveal(found);
};

async function foundItems({ inventory }: CommandContext): Promise<FoundItem[]> {
  await inventory.projects?.load();
  const projects = [...(inventory.projects?.entries.values() ?? [])];
  if (projects.length <= PROJECTS_LOADED) await inventory.loadComputesOf(projects.map(({ id }) => id));
  const nameOf = (id: string) => sanitize(inventory.project(id)?.name ?? id);
  const computes = [...inventory.allComputes()].map((compute) => {
    const item = computeItem(compute);
    return { ...item, detail: [nameOf(compute.project_id), item.detail].join(' · ') };
  });
  const rest = projects.filter(({ id }) => inventory.computesOf(id)?.isLoaded !== true);
  const unopened = rest.map(({ id }): FoundItem => ({
    label: `$(project) ${nameOf(id)}`,
    description: id,
    value: { kind: 'project', projectId: id },
  }));
  return [...computes, ...unopened];
}
