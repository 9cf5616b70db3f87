/** Asks for a project or compute if the command has no argument. */
import { l10n, type QuickPickItem } from 'vscode';
import type { Compute } from '../../../api/records/records.ts';
import type { Connection } from '../../../model/account/connection.ts';
import { byTypeAndLabel, labelOf, sizeText, computeStatus } from '../../../model/inventory/computeStatus.ts';
import type { Inventory } from '../../../model/inventory/inventory.ts';
import { asComputeNode, type ComputeNode } from '../../../model/inventory/nodes.ts';
import { branchLabel } from '../../text/branchText.ts';
import { statusIcon, statusText, typeText } from '../../text/computeText.ts';
import { sanitize } from '../../text/sanitize.ts';
import type { CommandContext } from '../context.ts';
import { mapAnswer, runSteps, type Answer, type Page } from './multiStepInput.ts';
import { pickOne } from './quickInput.ts';

interface Choice<T> extends QuickPickItem {
  readonly value: T;
}

/** @throws {Error} with a message for the user */
export function requireConnection({ session }: CommandContext): Connection {
  if (session.connection === undefined)
    throw new Error(l10n.t('Not connected. Run “Hosted Postgres: Connect…”.'));
  return session.connection;
}

/** @throws {Error} with a message for the user if the compute was deleted */
export async function requireCompute(
  { inventory }: Pick<CommandContext, 'inventory'>,
  { projectId, computeId }: Pick<ComputeNode, 'projectId' | 'computeId'>,
): Promise<Compute> {
  await inventory.loadComputes(projectId);
  // It may be newer than the loaded list.
  if (inventory.compute(projectId, computeId) === undefined) await inventory.refreshComputes(projectId);
  const compute = inventory.compute(projectId, computeId);
  if (compute === undefined) throw new Error(l10n.t('{0} no longer exists.', computeId));
  return compute;
}

/** The name of a compute, else its id. */
export function nodeLabel(
  { inventory }: Pick<CommandContext, 'inventory'>,
  { projectId, computeId }: Pick<ComputeNode, 'projectId' | 'computeId'>,
): string {
  const compute = inventory.compute(projectId, computeId);
  return sanitize(compute === undefined ? computeId : labelOf(compute));
}

export async function askProject({ inventory }: CommandContext, page: Page): Promise<Answer<string>> {
  const items = async (): Promise<Choice<string>[]> => {
    await inventory.projects?.load();
    const projects = [...(inventory.projects?.entries.values() ?? [])];
    return projects.map(({ id, record }) => ({
      label: sanitize(record?.name ?? id),
      description: id,
      value: id,
    }));
  };
  const picked = await pickOne(page, { placeholder: l10n.t('Select a project'), items: items() });
  return mapAnswer(picked, (item) => item.value);
}

export async function askCompute(
  { inventory }: CommandContext,
  page: Page,
  projectId: string,
  isOffered: (compute: Compute) => boolean = () => true,
): Promise<Answer<ComputeNode>> {
  const items = async () => {
    const [list] = await Promise.all([
      inventory.loadComputes(projectId),
      inventory.branches.ensure(projectId),
    ]);
    const computes = [...(list?.computes.values() ?? [])].filter(isOffered).sort(byTypeAndLabel);
    return computes.map((compute) => computeChoice(inventory, compute));
  };
  const picked = await pickOne(page, { placeholder: l10n.t('Select a compute'), items: items() });
  return mapAnswer(picked, (item) => item.value);
}

export function computeChoice(
  { branches }: Pick<Inventory, 'branches'>,
  compute: Compute,
): Choice<ComputeNode> {
  const { project_id: projectId, branch_id: branchId, id: computeId } = compute;
  return {
    label: sanitize(labelOf(compute)),
    iconPath: statusIcon(computeStatus(compute)),
    description: [statusText(compute), typeText(compute), sizeText(compute)]
      .filter((part) => part !== '')
      .join(' · '),
    detail: [
      ...(compute.name ? [computeId] : []),
      branchLabel(branchId, branches.get(projectId, branchId)),
    ].join(' · '),
    value: { kind: 'compute', projectId, branchId, computeId },
  };
}

interface ComputeChoice {
  readonly projectId?: string;
  readonly node?: ComputeNode;
}

/** The compute of the argument, or the one the user picks. @returns undefined if the user canceled */
export async function pickCompute(
  context: CommandContext,
  title: string,
  argument: unknown,
  isOffered?: (compute: Compute) => boolean,
): Promise<ComputeNode | undefined> {
  requireConnection(context);
  const given = asComputeNode(argument);
  if (given !== undefined) return given;
  const choice = await runSteps<ComputeChoice>(title, {}, [
    { ask: async (page) => mapAnswer(await askProject(context, page), (projectId) => ({ projectId })) },
    {
      ask: async (page, { projectId = '' }) =>
        mapAnswer(await askCompute(context, page, projectId, isOffered), (node) => ({ projectId, node })),
    },
  ]);
  return choice?.node;
}
