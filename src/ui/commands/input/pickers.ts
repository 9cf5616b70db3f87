/** Choosing a project, branch or compute where a command was not given one. */
import { l10n, type QuickPickItem } from 'vscode';
import type { Compute } from '../../../api/records/records.ts';
import { byTypeAndLabel, labelOf, sizeText, computeStatus } from '../../../model/inventory/computeStatus.ts';
import type { Connection } from '../../../model/account/connection.ts';
import type { ComputeNode } from '../../../model/inventory/nodes.ts';
import { statusIcon, statusText, typeText } from '../../text/computeText.ts';
import { sanitize } from '../../text/sanitize.ts';
import type { CommandContext } from '../context.ts';
import { type Answer, answered, type Page, runFlow, type Step } from './multiStepInput.ts';
import { pickOne } from './quickInput.ts';

interface Choice<T> extends QuickPickItem {
  readonly value: T;
}

/** @throws {Error} when nobody is connected, in words that say what to do */
export function requireConnection({ session }: CommandContext): Connection {
  if (session.connection === undefined) throw new Error(l10n.t('Connect to the service first.'));
  return session.connection;
}

export async function chooseProject(context: CommandContext, page: Page): Promise<Answer<string>> {
  const items = async (): Promise<Choice<string>[]> => {
    await context.inventory.projects?.load();
    const projects = [...(context.inventory.projects?.entries.values() ?? [])];
    return projects.map(({ id, record }) => ({
      label: sanitize(record?.name ?? id),
      description: id,
      value: id,
    }));
  };
  const picked = await pickOne(page, { placeholder: l10n.t('Project'), items: items() });
  return answered(picked, (item) => item.value);
}

/** Computes of a project that meet a condition. */
export async function chooseCompute(
  context: CommandContext,
  page: Page,
  projectId: string,
  fits: (compute: Compute) => boolean = () => true,
): Promise<Answer<ComputeNode>> {
  const items = async () => {
    const list = await context.inventory.loadComputes(projectId);
    return [...(list?.computes.values() ?? [])].filter(fits).sort(byTypeAndLabel).map(computeItem);
  };
  const picked = await pickOne(page, { placeholder: l10n.t('Compute'), items: items() });
  return answered(picked, (item) => item.value);
}

export function computeItem(compute: Compute): Choice<ComputeNode> {
  const { project_id: projectId, branch_id: branchId, id: computeId } = compute;
  return {
    label: sanitize(labelOf(compute)),
    iconPath: statusIcon(computeStatus(compute)),
    description: [statusText(compute), typeText(compute), sizeText(compute)]
      .filter((part) => part !== '')
      .join(' · '),
    detail: sanitize([compute.name ? computeId : '', branchId].filter((part) => part !== '').join(' · ')),
    value: { kind: 'compute', projectId, branchId, computeId },
  };
}

interface Known {
  readonly projectId?: string;
  readonly node?: ComputeNode;
}

/** The compute a command was given, or the one the user picks. @returns undefined when the user gave up */
export async function pickCompute(
  context: CommandContext,
  title: string,
  given: ComputeNode | undefined,
  fits: (compute: Compute) => boolean = () => true,
): Promise<ComputeNode | undefined> {
  requireConnection(context);
  if (given !== undefined) return given;
  const steps: Step<Known>[] = [
    {
      ask: async (page) => answered(await chooseProject(context, page), (projectId) => ({ projectId })),
    },
    {
      ask: async (page, known) => {
        const picked = await chooseCompute(context, page, known.projectId ?? '', fits);
        return answered(picked, (node) => ({ ...known, node }));
      },
    },
  ];
  return (await runFlow<Known>(title, {}, steps))?.node;
}
