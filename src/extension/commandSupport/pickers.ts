/** Asks for a project or compute if the command has no argument. */
import { l10n, ThemeIcon } from 'vscode';
import type { Compute } from '../../api/records/records.ts';
import { branchIdsOf, findPrimary } from '../inventory/branchStatus.ts';
import { asDatabaseRow } from '../inventory/databaseNodes.ts';
import type { BranchIds, ComputeIds } from '../account/refs.ts';
import type { Inventory } from '../inventory/inventory.ts';
import {
  asBranchNode,
  asComputeNode,
  asProjectNode,
  computeNodeOf,
  isComputeWithin,
  type BranchNode,
  type ComputeNode,
  type ProjectNode,
} from '../inventory/nodes.ts';
import { branchLabel } from '../inventory/ui/branchText.ts';
import { resourceText } from '../inventory/ui/resourceText.ts';
import { computeChoice, computeIcon } from '../inventory/ui/computeText.ts';
import { nameOrId } from '../../base/sanitize.ts';
import type { CommandContext, ComputesView } from './context.ts';
import { askInSteps, type Ask, type StepsLeft, type Question } from '../window/ui/input/multiStepInput.ts';
import { pickOne, type Choice } from '../window/ui/input/quickInput.ts';
import { branchTitle, projectName } from '../inventory/names.ts';

/** @throws {Error} with a message for the user if the compute was deleted */
export async function requireCompute(
  { inventory }: Pick<CommandContext, 'inventory'>,
  { projectId, computeId }: ComputeIds,
): Promise<Compute> {
  await inventory.loadComputes(projectId);
  // The compute may be newer than the loaded list.
  if (inventory.compute(projectId, computeId) === undefined) await inventory.refreshComputes(projectId);
  const compute = inventory.compute(projectId, computeId);
  if (compute === undefined) throw new Error(l10n.t('{0} no longer exists.', computeId));
  return compute;
}

/** @throws {Error} with a message for the user if the branch has no primary */
export async function requirePrimary(
  { inventory }: Pick<CommandContext, 'inventory'>,
  branch: BranchIds,
): Promise<Compute> {
  const { projectId, branchId } = branch;
  const compute = await findPrimary(inventory, branch);
  if (compute !== undefined) return compute;
  const name = branchTitle(branchId, inventory.branches.get(projectId, branchId));
  throw new Error(l10n.t('{0} has no compute.', name));
}

export function projectQuestion(context: CommandContext, placeholder?: string): Question<string> {
  const { inventory } = context;
  const known = () =>
    [...(inventory.projects?.entries.values() ?? [])].map(({ id, record }) => ({
      label: nameOrId(record?.name, id),
      description: id,
      value: id,
      isCurrent: id === currentProject(context),
    }));
  return pickOne<string>({
    placeholder: placeholder ?? l10n.t('Select a project'),
    items: (show) => loadItems(inventory, known, show, async () => await inventory.projects?.load()),
  });
}

/** Asks for a project, unless one is preferred or current. The user can go back to choose another one. */
export const askForProject = (
  context: CommandContext,
  ask: Ask,
  { placeholder, ...options }: StepsLeft & { readonly placeholder?: string | undefined } = {},
  preferred: string | undefined = currentProject(context),
): Promise<string> => ask(projectQuestion(context, placeholder), { ...options, assumed: preferred });

/** Returns the project of the selected row, or else of the last used compute; undefined if it is no longer listed. */
function currentProject({ computesView, lastCompute, inventory }: PickerContext): string | undefined {
  const projectId = projectOf(computesView.view.selection[0]) ?? lastCompute.node?.projectId;
  return projectId !== undefined && inventory.projects?.entries.has(projectId) === true
    ? projectId
    : undefined;
}

const projectOf = (row: unknown): string | undefined =>
  (asProjectNode(row) ?? asBranchNode(row) ?? asComputeNode(row) ?? asDatabaseRow(row))?.projectId;

/** Returns the branch of the selected row, or else of the last used compute, if it is in this project. */
export function currentBranch(
  { computesView, lastCompute, inventory }: CommandContext,
  projectId: string,
): string | undefined {
  const [row] = computesView.view.selection;
  const nodes = [asBranchNode(row) ?? asComputeNode(row) ?? asDatabaseRow(row), lastCompute.node];
  const node = nodes.find((each) => each?.projectId === projectId);
  // The compute may have moved to another branch.
  const compute = node?.kind === 'compute' ? inventory.compute(projectId, node.computeId) : undefined;
  return compute?.branch_id ?? node?.branchId;
}

/** Returns the only project of the account, so that no command has to ask for it. */
export async function onlyProject({ inventory }: CommandContext): Promise<string | undefined> {
  await inventory.projects?.load();
  const [first, ...others] = inventory.projects?.entries.keys() ?? [];
  return others.length === 0 ? first : undefined;
}

/** What an item of a list of computes stands for. */
export type PickerRow = ComputeNode | BranchNode | ProjectNode;

export function pickerRowId(row: PickerRow): string {
  if (row.kind === 'compute') return row.computeId;
  return row.kind === 'branch' ? `${row.projectId}/${row.branchId}` : row.projectId;
}

export interface PickerItem<T extends PickerRow = PickerRow> extends Choice<T> {
  readonly value: T;
}

type CanPick = (compute: Compute) => boolean;

/** Which computes can be picked, and what the list says if there are none. */
interface Offered {
  readonly canPick?: CanPick;
  readonly none?: string;
}

export interface PickerContext extends Pick<CommandContext, 'session' | 'inventory' | 'lastCompute'> {
  readonly computesView: Pick<ComputesView, 'view'>;
}

interface ComputeQuestion extends StepsLeft, Offered {
  readonly placeholder: string;
}

/** Asks for a compute of any project. In a large account, the user may have to pick the project first. */
export async function askForCompute(
  context: PickerContext,
  ask: Ask,
  { placeholder, canPick = () => true, none = l10n.t('No computes'), following = 0 }: ComputeQuestion,
): Promise<ComputeNode> {
  const items = (show: (items: readonly PickerItem[]) => void) => loadComputeItems(context, canPick, show);
  const row = await ask<PickerRow>(pickOne({ placeholder, none, items, idOf: pickerRowId }), { following });
  if (row.kind === 'compute') return row;
  const { projectId } = row;
  const itemsOfProject = async () => {
    await context.inventory.loadComputes(projectId);
    return computeItems(context, (each) => each.project_id === projectId && canPick(each));
  };
  const question = { placeholder: l10n.t('Select a compute'), none, items: itemsOfProject };
  return await ask(pickOne<ComputeNode>(question), { following });
}

/** Returns the loaded computes, in the order of the tree. Those of the selected row come first, then the last used one. */
export function computeItems(context: PickerContext, canPick: CanPick): PickerItem<ComputeNode>[] {
  const { inventory, computesView, lastCompute } = context;
  const [selected] = computesView.view.selection;
  const itemRank = ({ value }: PickerItem<ComputeNode>) => {
    if (isComputeWithin(value, selected)) return 0;
    return value.computeId === lastCompute.node?.computeId ? 1 : 2;
  };
  const projects = [...(inventory.projects?.entries.keys() ?? [])];
  const computes = projects.flatMap((id) => {
    const members = inventory.computesOf(id)?.branches();
    return branchIdsOf(inventory, id).flatMap((branchId) => members?.get(branchId)?.filter(canPick) ?? []);
  });
  return computes
    .map((compute): PickerItem<ComputeNode> => {
      const { project_id: projectId, branch_id: branchId, id: computeId } = compute;
      const project = projectName(inventory, projectId);
      const branch = branchLabel(branchId, inventory.branches.get(projectId, branchId));
      return {
        ...computeChoice(compute),
        iconPath: computeIcon(compute),
        detail: `${project} · ${branch}`,
        value: { kind: 'compute', projectId, branchId, computeId },
      };
    })
    .sort((a, b) => itemRank(a) - itemRank(b));
}

/** What a list has in addition to computes. */
interface MoreItems {
  items(): readonly PickerItem[];
  load(projectIds: readonly string[]): Promise<void>;
}

/** Loads the items of all computes, and of the projects whose computes aren't loaded. */
export async function loadComputeItems(
  context: PickerContext,
  canPick: CanPick,
  show: (items: readonly PickerItem[]) => void,
  more?: MoreItems,
): Promise<readonly PickerItem[]> {
  const { inventory } = context;
  await inventory.ensureProjects();
  const current = currentProject(context);
  // The list waits for the current project's computes, which come first. A project that fails shows its error when picked.
  if (current !== undefined) await inventory.loadComputes(current).catch(() => undefined);
  // Items keep their positions, because the user may be about to pick one.
  const places = new Map<string, number>();
  const keptPosition = ({ value }: PickerItem) => places.get(pickerRowId(value)) ?? places.size;
  const known = () => {
    const computes = computeItems(context, canPick);
    const items = [...computes, ...(more?.items() ?? []), ...unloadedProjects(inventory)];
    if (places.size > 0) items.sort((a, b) => keptPosition(a) - keptPosition(b));
    for (const { value } of items)
      if (!places.has(pickerRowId(value))) places.set(pickerRowId(value), places.size);
    return items;
  };
  return await loadItems<PickerItem>(inventory, known, show, async () => {
    await inventory.projects?.load();
    const ids = [...(inventory.projects?.entries.keys() ?? [])];
    if (ids.length > MAX_PRELOADED) return;
    const computes = inventory.loadComputesOf(ids).catch(() => undefined);
    await Promise.all([computes, more?.load(ids)]);
  });
}

/** Returns the projects whose computes couldn't be loaded, if the account is small. Picking one shows the error. */
function unloadedProjects(inventory: Inventory): PickerItem<ProjectNode>[] {
  const projects = [...(inventory.projects?.entries.values() ?? [])];
  return projects
    .filter(({ id }) => {
      const list = inventory.computesOf(id);
      return list?.isLoaded !== true && (projects.length > MAX_PRELOADED || list?.failure !== undefined);
    })
    .map(({ id, record }) => ({
      label: nameOrId(record?.name, id),
      iconPath: new ThemeIcon('project'),
      description: id,
      value: { kind: 'project', projectId: id },
    }));
}

interface PickedCompute extends ComputeNode {
  /** The compute's name, or else its id. */
  readonly name: string;
  /** The name with that of the branch and project, see `resourceText`. */
  readonly fullName: string;
}

/**
 * Returns the compute of the argument, the primary of its branch or database, or the compute that the user picks, offered next.
 * @returns undefined if the user canceled
 */
export async function pickCompute(
  context: PickerContext,
  title: string,
  argument: unknown,
  offered: Offered = {},
): Promise<PickedCompute | undefined> {
  context.session.requireConnection();
  const question = { placeholder: l10n.t('Select a compute'), ...offered };
  const branch = asBranchNode(argument) ?? asDatabaseRow(argument);
  const picked =
    asComputeNode(argument) ??
    (branch && computeNodeOf(await requirePrimary(context, branch))) ??
    (await askInSteps(title, (ask) => askForCompute(context, ask, question)));
  if (picked === undefined) return undefined;
  const { inventory, lastCompute } = context;
  const { projectId, computeId } = picked;
  await inventory.ensureComputes(projectId);
  const compute = inventory.compute(projectId, computeId);
  // The row may be older than a move to another branch.
  const node = { ...picked, branchId: compute?.branch_id ?? picked.branchId };
  await lastCompute.remember(node);
  return { ...node, name: nameOrId(compute?.name, computeId), fullName: resourceText(inventory, node) };
}

/** The most projects whose computes are all loaded. If there are more, only those of the project that the user picks are. */
export const MAX_PRELOADED = 50;

/** Shows loaded items while others load. Updates at each doubling, because VS Code takes long to draw thousands. */
async function loadItems<T>(
  inventory: Inventory,
  known: () => readonly T[],
  show: (items: readonly T[]) => void,
  load: () => Promise<void>,
): Promise<readonly T[]> {
  let shown = 0;
  const update = () => {
    if (countKnownRows(inventory) < 2 * shown) return;
    shown = countKnownRows(inventory);
    show(known());
  };
  update();
  const subscription = inventory.onDidChange(update);
  try {
    await load();
  } finally {
    subscription.dispose();
  }
  return known();
}

/** Counts projects only in a large account, where they are listed. */
function countKnownRows(inventory: Inventory): number {
  const ids = [...(inventory.projects?.entries.keys() ?? [])];
  const listed = ids.length > MAX_PRELOADED ? ids.length : 0;
  return ids.reduce((sum, id) => sum + (inventory.computesOf(id)?.computes.size ?? 0), listed);
}
